import type { System } from '../../src/ports/system.ts';

/** A System whose timers never fire once its process is dead. */
export function mortal(system: System, life: { readonly isOver: boolean }): System {
  const unlessDead = (run: () => void) => () => {
    if (!life.isOver) run();
  };
  return {
    ...system,
    after: (ms, run) => system.after(ms, unlessDead(run)),
    turn: (run) => system.turn(unlessDead(run)),
  };
}
