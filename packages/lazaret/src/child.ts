import { serveParent } from './runtime/isolate/child.ts';
import { realSystem } from './system.ts';

/** The entry of the child processes of `isolate`. */
serveParent(realSystem);
