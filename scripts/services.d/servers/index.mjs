import { elasticmq } from './elasticmq.mjs';
import { kafka } from './kafka.mjs';
import { nats } from './nats.mjs';
import { postgres } from './postgres.mjs';
import { rabbitmq } from './rabbitmq.mjs';
import { rabbitmq4 } from './rabbitmq-4.mjs';
import { redis } from './redis.mjs';

/** The longest to install comes first, so that the others are done meanwhile. @type {readonly import('../server.mjs').Server[]} */
export const SERVERS = [rabbitmq4, redis, postgres, rabbitmq, nats, elasticmq, kafka];
