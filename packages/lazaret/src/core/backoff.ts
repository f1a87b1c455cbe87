/** How waits grow. Beyond the end of a list its last value repeats; an exponent is capped before anything else. */
export type Backoff =
  | { readonly kind: 'list'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly capMs: number };

/** How waits are spread. `share` of 0.2 means ±20 %. */
export type Jitter =
  | { readonly kind: 'none' }
  | { readonly kind: 'full' }
  | { readonly kind: 'decorrelated' }
  | { readonly kind: 'proportional'; readonly share: number };
