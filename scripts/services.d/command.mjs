// What the caller asks for, read from the arguments.

export const USAGE = `usage: scripts/services up|down|status|kill|restart [name...]

  up       install what is missing, start, wait until the protocol answers, print NAME=value for each
  down     stop in good order what \`up\` started
  status   say what runs; ends with 1 unless all of it does
  kill     SIGKILL, as a crash would; \`up\` starts it again on the same data
  restart  down, then up

Without a name: all of them. State lies in $LAZARET_SERVICES, by default lazaret-services in the folder for temporary
files; remove a stopped server's folder there and it starts empty.`;

/** @typedef {'up' | 'down' | 'status' | 'kill' | 'restart'} Verb */

/** @typedef {{ verb: Verb, names: readonly string[] } | { verb: 'help' } | { verb: 'wrong', why: string }} Wish */

/** @type {ReadonlySet<string>} */
const VERBS = new Set(['up', 'down', 'status', 'kill', 'restart']);

/**
 * Names come back once each, in the order of `known`.
 * @param {readonly string[]} args
 * @param {readonly string[]} known
 * @returns {Wish}
 */
export function readCommand(args, known) {
  const [verb, ...named] = args;
  if (args.includes('--help') || args.includes('-h')) return { verb: 'help' };
  if (verb === undefined) return { verb: 'wrong', why: 'nothing to do' };
  if (!isVerb(verb)) return { verb: 'wrong', why: `"${verb}" is not a thing to do` };
  const stranger = named.find((name) => !known.includes(name));
  if (stranger !== undefined)
    return { verb: 'wrong', why: `no server is called "${stranger}"; there are ${known.join(', ')}` };
  // n.b. a crash is wanted of one server, never of all because a name was forgotten.
  if (verb === 'kill' && named.length === 0) return { verb: 'wrong', why: 'kill needs a name' };
  return { verb, names: named.length === 0 ? known : known.filter((name) => named.includes(name)) };
}

/**
 * @param {string} word
 * @returns {word is Verb}
 */
function isVerb(word) {
  return VERBS.has(word);
}
