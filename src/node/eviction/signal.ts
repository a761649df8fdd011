import type { EvictionSignal } from '../../model/config/rules/eviction-signals.ts'
import type { Pressures } from '../../pods/admission/compute-pressure-rejection.ts'

/** What the node can be short of, under the names of the configuration. What the runtime writes to is always one of the two file systems. */
export type Signal = Exclude<EvictionSignal, `containerfs.${string}`>

/** What pods have to give back. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

export type PressureKind = keyof Pressures

/** In the order in which they are seen to: without memory nothing else works. */
export const SIGNALS: Readonly<
  Record<Signal, { readonly resource: StarvedResource; readonly pressure: PressureKind }>
> = {
  'memory.available': { resource: 'memory', pressure: 'memory' },
  'allocatableMemory.available': { resource: 'memory', pressure: 'memory' },
  'nodefs.available': { resource: 'ephemeral-storage', pressure: 'disk' },
  'nodefs.inodesFree': { resource: 'inodes', pressure: 'disk' },
  'imagefs.available': { resource: 'ephemeral-storage', pressure: 'disk' },
  'imagefs.inodesFree': { resource: 'inodes', pressure: 'disk' },
  'pid.available': { resource: 'pids', pressure: 'pid' },
}

export function isSignal(text: string): text is Signal {
  return Object.hasOwn(SIGNALS, text)
}
