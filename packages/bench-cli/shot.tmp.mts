import { chromium } from 'playwright-core';
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu','--disable-dev-shm-usage'] });
for (const [w, path, name] of [[1280,'index.html','i1280'],[360,'index.html','i360'],[360,'servers/coredns.html','s360']] as const) {
  const c = await b.newContext({ viewport: { width: w, height: 900 } });
  const p = await c.newPage(); await p.goto('file:///tmp/seen-site/' + path);
  console.log(name, await p.evaluate('[document.documentElement.scrollHeight, document.documentElement.scrollWidth]'));
  await p.screenshot({ path: `/tmp/${name}.png`, clip: { x: 0, y: 0, width: w, height: 2200 }, fullPage: true });
}
await b.close();
