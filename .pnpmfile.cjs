/**
 * Before each `pnpm run` and `pnpm exec`, pnpm 10 holds `engines` of the packages against the Node.js that pnpm itself
 * runs on (it forgets the setting `nodeVersion`), and would warn with each command on a machine with Node.js 20. The
 * programs run on the workspace's own Node.js. Errors, and all that an installation says, are shown as ever.
 */
const INSTALLS = /^(?:i|install|ci|add|update|up|remove|rm|pack|publish)$/;

module.exports = {
  hooks: {
    updateConfig: (config) =>
      process.argv.slice(2).some((word) => INSTALLS.test(word)) ? config : { ...config, loglevel: 'error' },
  },
};
