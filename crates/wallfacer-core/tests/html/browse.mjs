// Opens a page in headless Chromium and prints, as JSON, what came of a few things that a person does with it.
// Usage: node browse.mjs CHROMIUM PAGE ID [PICTURES]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [chromium, file, id, pictures] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), 'browse-'));
const browser = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
  '--disable-background-networking', `--user-data-dir=${profile}`, '--remote-debugging-pipe', '--window-size=1100,1500', 'about:blank'],
{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const late = setTimeout(() => { browser.kill('SIGKILL'); console.error('the browser took too long'); process.exit(1); }, 120000);
const [, , , send, receive] = browser.stdio;
const waiting = new Map();
const requests = [];
const problems = [];
let number = 0, rest = '';
receive.on('data', (bytes) => {
  rest += bytes;
  const messages = rest.split('\0');
  rest = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id && waiting.has(message.id)) { waiting.get(message.id)(message); waiting.delete(message.id); }
    if (message.method === 'Network.requestWillBeSent') requests.push(message.params.request.url);
    if (message.method === 'Runtime.exceptionThrown') problems.push(message.params.exceptionDetails.exception?.description ?? 'exception');
    if (message.method === 'Page.javascriptDialogOpening') problems.push(`dialog: ${message.params.message}`);
    if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error') problems.push(message.params.entry.text);
  }
});
let session;
function ask(method, params = {}) {
  number += 1;
  const mine = number;
  send.write(JSON.stringify({ id: mine, method, params, sessionId: session }) + '\0');
  return new Promise((done, fail) => waiting.set(mine, (message) => message.error ? fail(new Error(message.error.message)) : done(message.result)));
}
async function evaluate(expression) {
  const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
async function open(address) {
  await ask('Page.navigate', { url: 'about:blank' });
  await ask('Page.navigate', { url: address });
  await evaluate("new Promise((done) => { const look = () => document.readyState === 'complete' ? done() : setTimeout(look, 10); look(); })");
}
const { targetInfos } = await ask('Target.getTargets');
const { sessionId } = await ask('Target.attachToTarget', { targetId: targetInfos.find((one) => one.type === 'page').targetId, flatten: true });
session = sessionId;
for (const part of ['Page', 'Runtime', 'Network', 'Log']) await ask(`${part}.enable`);
await ask('Emulation.setDeviceMetricsOverride', { width: 1100, height: 1500, deviceScaleFactor: 1, mobile: false });
const address = `file://${file}`;

await open(address);
const SHOWN = "document.querySelectorAll('details.finding:not([hidden])').length";
const seen = { all: await evaluate(SHOWN) };
seen.verdict = await evaluate("document.querySelector('.verdict').textContent");
seen.images = await evaluate("document.querySelectorAll('img, iframe, object, embed').length");
seen.scripts = await evaluate("document.querySelectorAll('script').length");
seen.unnamed = await evaluate("[...document.querySelectorAll('button, input, select, a')].filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)).length");
seen.filter = await evaluate(`(() => {
  const search = document.getElementById('search');
  const begun = performance.now();
  search.value = ${JSON.stringify(id)};
  search.dispatchEvent(new Event('input'));
  document.body.getBoundingClientRect();
  return { ms: performance.now() - begun, shown: ${SHOWN}, status: document.getElementById('status').textContent };
})()`);
seen.expanded = await evaluate(`new Promise((done) => {
  const one = document.querySelector('details.finding:not([hidden])');
  one.addEventListener('toggle', () => setTimeout(() => done(one.textContent), 0));
  one.querySelector('summary').click();
})`);
seen.cleared = await evaluate(`(() => { [...document.querySelectorAll('.filter button')].pop().click(); return ${SHOWN}; })()`);
seen.keyboard = await evaluate(`(() => {
  dispatchEvent(new KeyboardEvent('keydown', { key: '/', cancelable: true }));
  const first = document.activeElement.id;
  document.activeElement.blur();
  dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }));
  return [first, document.activeElement.tagName];
})()`);
await open(`${address}#f-${id}`);
await evaluate(`new Promise((done) => { let looks = 0; const look = () => {
  looks += 1;
  if (document.activeElement.tagName === 'SUMMARY' || looks > 200) done(); else setTimeout(look, 10);
}; look(); })`);
seen.linked = await evaluate(`(() => { const one = document.getElementById('f-${id}'); return { open: one.open, focus: document.activeElement === one.querySelector('summary') }; })()`);
seen.requests = requests.filter((url) => !url.startsWith('file:') && !url.startsWith('about:') && !url.startsWith('data:'));
seen.problems = problems;
if (pictures) {
  for (const theme of ['light', 'dark']) {
    await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: theme }] });
    await open(address);
    await evaluate("document.querySelector('details.finding summary')?.click()");
    await evaluate('new Promise((done) => setTimeout(done, 100))');
    const { data } = await ask('Page.captureScreenshot', { format: 'png' });
    writeFileSync(join(pictures, `report-${theme}.png`), Buffer.from(data, 'base64'));
  }
}
console.log(JSON.stringify(seen));
clearTimeout(late);
browser.kill('SIGKILL');
browser.once('exit', () => { rmSync(profile, { recursive: true, force: true }); process.exit(0); });
