import { lazaret } from 'lazaret';
import { DEADLY_IMAGE } from './goods.ts';
import { openLedger } from './ledger.ts';

/**
 * The images service of the demo, a process of its own: an ordinary consumer, but for one image that its decoder does not
 * survive. Arguments: database, ledger, visibility timeout, and 'fixed' where the decoder has been mended.
 */
const [db = '', ledgerFile = '', visibilityTimeout = '2s', fixed = ''] = process.argv.slice(2);
const ledger = openLedger(ledgerFile);

const app = lazaret({ broker: `sqlite:${db}`, logger: false });
app.consume('images', { visibilityTimeout, timeout: '1m', concurrency: 4 }, (image, ctx) => {
  ledger.started(image.id!, ctx.strikes);
  if (image.id === DEADLY_IMAGE && fixed === '') process.kill(process.pid, 'SIGKILL');
  ledger.effect(image.id!);
});
await app.start();

// The channel to the demo keeps this process alive. When it ends, the demo says so or is gone.
const stop = () => void app.stop({ within: '5s' }).finally(() => process.exit());
process.on('disconnect', stop);
if (!process.connected) stop();
// Ctrl-C reaches every process of the terminal; the demo says when.
process.on('SIGINT', () => {});
