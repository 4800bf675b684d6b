/** With `node --import`: the URLs of all modules that a program loads, as JSON in the last line of stderr. */
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

const urls = [];
registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('node:')) urls.push(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => writeSync(process.stderr.fd, `\n${JSON.stringify(urls)}`));
