import type { Volume } from '../../model/generated/core-v1.ts'
import type { DesiredVolume } from './desired-volume.ts'

/** What the pod's spec says about a volume of one kind; a volume of another kind is a mistake of the caller. */
export function inlineSource<K extends keyof Volume>({ name, source }: DesiredVolume, kind: K): NonNullable<Volume[K]> {
  const found = source.kind === 'inline' ? source.volume[kind] : undefined
  if (found === undefined) throw new Error(`Cannot mount volume "${name}": expected ${kind} in the spec of its pod`)
  return found
}
