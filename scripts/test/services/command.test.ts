import { describe, expect, it } from 'vitest';
import { readCommand } from '../../services.d/command.mjs';

const KNOWN = ['redis', 'postgres', 'rabbitmq'];

describe('the arguments', () => {
  it.each([
    ['mean all servers without a name', ['up'], { verb: 'up', names: KNOWN }],
    ['may name some', ['down', 'postgres'], { verb: 'down', names: ['postgres'] }],
    [
      'come back once each, in the order of the servers',
      ['up', 'rabbitmq', 'redis', 'rabbitmq'],
      { verb: 'up', names: ['redis', 'rabbitmq'] },
    ],
    ['may ask for help wherever they like', ['up', '--help'], { verb: 'help' }],
    ['must say what to do', [], { verb: 'wrong', why: 'nothing to do' }],
    ['must say something that can be done', ['start'], { verb: 'wrong', why: '"start" is not a thing to do' }],
    [
      'must name what exists',
      ['up', 'mysql'],
      { verb: 'wrong', why: 'no server is called "mysql"; there are redis, postgres, rabbitmq' },
    ],
    ['are no property of an object', ['constructor'], { verb: 'wrong', why: '"constructor" is not a thing to do' }],
    ['must name who is killed', ['kill'], { verb: 'wrong', why: 'kill needs a name' }],
  ])('%s', (_, args, wish) => {
    expect(readCommand(args, KNOWN)).toEqual(wish);
  });
});
