import type { View } from '../view.ts';
import { breakerShowView } from './breaker-show.ts';
import { messagesLsView } from './messages-ls.ts';
import { messagesReleaseView } from './messages-release.ts';
import { messagesShowView } from './messages-show.ts';
import { orderView, toAutomatic } from './order.ts';
import { queuesExplainView } from './queues-explain.ts';
import { queuesLsView } from './queues-ls.ts';
import { queuesShowView } from './queues-show.ts';

/** How each operation's output looks, by the operation's name. */
export const VIEWS: ReadonlyMap<string, View> = new Map<string, View>([
  ['queues ls', queuesLsView],
  ['queues show', queuesShowView],
  ['queues explain', queuesExplainView],
  ['queues pause', orderView((queue) => ['queues', 'resume', queue, '--why', '…'])],
  ['queues resume', orderView((queue) => ['breaker', 'show', queue])],
  ['breaker show', breakerShowView],
  ['breaker open', orderView(toAutomatic)],
  ['breaker half-open', orderView(toAutomatic)],
  ['breaker close', orderView(toAutomatic)],
  ['breaker automatic', orderView((queue) => ['breaker', 'show', queue])],
  ['messages ls', messagesLsView],
  ['messages show', messagesShowView],
  ['messages release', messagesReleaseView],
]);
