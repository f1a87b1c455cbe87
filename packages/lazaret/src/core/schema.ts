/**
 * The part of Standard Schema v1 that is used here: zod, valibot, arktype and others fit as they are. `T` is what the schema makes of a
 * body.
 */
export interface Schema<T = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>;
  };
}

export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly GivenIssue[] };

/** An issue as a validator gives it; `SchemaError.issues` names its path as text. */
export interface GivenIssue {
  readonly message: string;
  readonly path?: readonly PathSegment[] | undefined;
}

/** A step of a path. */
export type PathSegment = PropertyKey | { readonly key: PropertyKey };
