import type { Confluent, Consumer } from '../../../src/drivers/kafka/confluent-types.ts';

export interface Life {
  isOver: boolean;
}

/**
 * A client whose process can die: then nobody reads, commits or answers any more. Its members leave the group at once, so that nobody
 * has to wait for the end of their sessions; what they held open stays open.
 */
export function mortalClient(client: Confluent, life: Life): { readonly client: Confluent; die(): Promise<void> } {
  const members: Consumer[] = [];
  const KafkaConsumer = class {
    constructor(config: object, topicConfig: object) {
      const { rebalance_cb: told, ...rest } = config as {
        rebalance_cb: (event: unknown, list: readonly never[]) => void;
      };
      const rebalance = (event: unknown, list: readonly never[]) => {
        if (!life.isOver) told(event, list);
        else member.incrementalUnassign(list);
      };
      const member = new client.KafkaConsumer({ ...rest, rebalance_cb: rebalance }, topicConfig);
      members.push(member);
      const dead = new Set<PropertyKey>(['consume', 'commit', 'commitSync', 'pause', 'resume']);
      // biome-ignore lint/correctness/noConstructorReturn: what is made stands for the real one.
      return new Proxy(member, {
        get(target, name) {
          if (life.isOver && dead.has(name)) return () => undefined;
          const value = Reflect.get(target, name) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }) as never;
    }
  } as unknown as Confluent['KafkaConsumer'];
  return {
    client: { ...client, Producer: client.Producer, AdminClient: client.AdminClient, KafkaConsumer },
    async die() {
      life.isOver = true;
      await Promise.all(members.map((member) => new Promise<void>((resolve) => member.disconnect(resolve))));
    },
  };
}
