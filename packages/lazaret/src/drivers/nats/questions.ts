import type { System } from '../../ports/system.ts';
import type { Msg, NatsConnection } from './client.ts';
import { asHeaders } from './headers.ts';

export interface Question {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers?: Uint8Array | undefined;
}

interface Asked {
  readonly answers: (Msg | Error | undefined)[];
  open: number;
  end(): void;
}

/** Many questions at once, answered in any order, with one timer for all of them. */
export class Questions {
  readonly #connection: NatsConnection;
  readonly #system: System;
  readonly #withinMs: number;
  readonly #inbox: string;
  readonly #asked = new Map<string, Asked>();
  #count = 0;

  constructor(connection: NatsConnection, system: System, inbox: string, withinMs: number) {
    this.#connection = connection;
    this.#system = system;
    this.#withinMs = withinMs;
    this.#inbox = inbox;
    connection.subscribe(`${inbox}.*.*`, {
      callback: (error, answer) => {
        if (error === null) this.#answered(answer);
      },
    });
  }

  /** Same order. `undefined`: no answer came, so nobody knows; an Error was never sent. */
  ask(questions: readonly Question[]): Promise<readonly (Msg | Error | undefined)[]> {
    return new Promise((resolve) => {
      const batch = (this.#count++).toString(36);
      const asked: Asked = {
        answers: new Array<Msg | Error | undefined>(questions.length).fill(undefined),
        open: questions.length,
        end: () => {
          cancel();
          this.#asked.delete(batch);
          resolve(asked.answers);
        },
      };
      const cancel = this.#system.after(this.#withinMs, asked.end);
      this.#asked.set(batch, asked);
      for (const [i, { subject, body, headers }] of questions.entries()) {
        try {
          const reply = `${this.#inbox}.${batch}.${i}`;
          this.#connection.publish(
            subject,
            body,
            headers === undefined ? { reply } : { reply, headers: asHeaders(headers) },
          );
        } catch (error) {
          asked.answers[i] = error as Error;
          asked.open--;
        }
      }
      if (asked.open === 0) asked.end();
    });
  }

  /** The connection is gone: nothing that was asked on it will be answered. */
  forget(): void {
    for (const asked of [...this.#asked.values()]) asked.end();
  }

  #answered(answer: Msg): void {
    const { subject } = answer;
    const at = subject.lastIndexOf('.');
    const asked = this.#asked.get(subject.slice(this.#inbox.length + 1, at));
    const index = Number(subject.slice(at + 1));
    if (asked === undefined || asked.answers[index] !== undefined) return;
    asked.answers[index] = answer;
    if (--asked.open === 0) asked.end();
  }
}
