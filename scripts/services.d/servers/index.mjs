import { elasticmq } from './elasticmq.mjs';
import { kafka } from './kafka.mjs';
import { nats } from './nats.mjs';
import { postgres } from './postgres.mjs';
import { rabbitmq } from './rabbitmq.mjs';
import { rabbitmq4 } from './rabbitmq-4.mjs';
import { redis } from './redis.mjs';

/** @type {readonly import('../server.mjs').Server[]} */
export const SERVERS = [redis, postgres, rabbitmq, nats, elasticmq, kafka, rabbitmq4];
