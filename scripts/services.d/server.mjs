// What a server tells of itself; life.mjs does the rest, the same for all. Types only.

/**
 * @typedef {object} Server
 * @property {string} name       as it is called on the command line
 * @property {string} variable   the variable that carries its address
 * @property {Ports} ports   its first choice; clients use the first of them
 * @property {() => Promise<void>} install   makes sure that its program is there; at once if so
 * @property {(place: Place) => Promise<Command>} prepare   writes its configuration, makes its data the first time
 * @property {(place: Place) => Promise<boolean>} answers   one handshake in its own protocol; may throw for "no"
 * @property {(place: Place) => string} address
 * @property {NodeJS.Signals} [stopSignal]   asks it to stop in good order; default SIGTERM
 */

/** @typedef {readonly [number, ...number[]]} Ports */

/**
 * Where a server lives. The folder holds `data`, its configuration, `log`, and what life.mjs keeps about it.
 * @typedef {object} Place
 * @property {string} folder
 * @property {Ports} ports   in the order of `Server.ports`
 */

/**
 * The program that is the server, in the foreground.
 * @typedef {object} Command
 * @property {string} program
 * @property {readonly string[]} args
 * @property {Readonly<Record<string, string>>} [env]   added to PATH, HOME and LANG; it sees no other variable of the caller
 * @property {Account | undefined} [account]   whom to run it as; default the caller
 */

/**
 * @typedef {object} Account
 * @property {number} uid
 * @property {number} gid
 */

export {};
