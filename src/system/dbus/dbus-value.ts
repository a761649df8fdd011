/**
 * What a D-Bus value is here: y n q i u d h are numbers, x t are bigints, b is a boolean, s o g are strings, arrays and structs are arrays,
 * dicts are maps, a variant carries its own signature.
 */
export type DbusValue =
  | number
  | bigint
  | boolean
  | string
  | DbusVariant
  | readonly DbusValue[]
  | ReadonlyMap<DbusValue, DbusValue>

/** A value that says itself what type it has. */
export interface DbusVariant {
  readonly signature: string
  readonly value: DbusValue
}
