/** A place where two values differ, and both. */
export interface Difference {
  /** As in "0.body.status.phase". */
  readonly path: string
  readonly own: unknown
  readonly real: unknown
}

type Json = Readonly<Record<string, unknown>>

/** Every place where two values differ; the order of keys is no difference. */
export function findDifferences(own: unknown, real: unknown, path: readonly string[] = []): readonly Difference[] {
  if (Object.is(own, real)) return []
  if (!isComposite(own) || !isComposite(real) || Array.isArray(own) !== Array.isArray(real)) {
    return [{ path: path.join('.'), own, real }]
  }
  const names = new Set([...Object.keys(own), ...Object.keys(real)])
  return [...names].flatMap((name) => findDifferences(own[name], real[name], [...path, name]))
}

function isComposite(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

/** One line for each, the real one first. */
export function formatDifferences(differences: readonly Difference[]): string {
  return differences
    .map(({ path, own, real }) => `${path}: real ${JSON.stringify(real)}, own ${JSON.stringify(own)}`)
    .join('\n')
}
