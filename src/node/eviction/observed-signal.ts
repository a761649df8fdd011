import type { EvictionSignal } from '../../model/config/values/eviction-signals.ts'
import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'

/** What the node can be short of, under the names of the configuration. What the runtime writes to is always one of the two file systems. */
export type ObservedSignal = Exclude<EvictionSignal, `containerfs.${string}`>

/** What pods have to give back. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

export type PressureKind = keyof NodePressures

interface SignalMeaning {
  readonly resource: StarvedResource
  readonly pressure: PressureKind
  /** The file system that it is about. */
  readonly fileSystem: 'node' | 'images' | undefined
}

/** In the order in which they are seen to: without memory nothing else works. */
export const OBSERVED_SIGNALS: Readonly<Record<ObservedSignal, SignalMeaning>> = {
  'memory.available': { resource: 'memory', pressure: 'memory', fileSystem: undefined },
  'allocatableMemory.available': { resource: 'memory', pressure: 'memory', fileSystem: undefined },
  'nodefs.available': { resource: 'ephemeral-storage', pressure: 'disk', fileSystem: 'node' },
  'nodefs.inodesFree': { resource: 'inodes', pressure: 'disk', fileSystem: 'node' },
  'imagefs.available': { resource: 'ephemeral-storage', pressure: 'disk', fileSystem: 'images' },
  'imagefs.inodesFree': { resource: 'inodes', pressure: 'disk', fileSystem: 'images' },
  'pid.available': { resource: 'pids', pressure: 'pid', fileSystem: undefined },
}

export function isObservedSignal(text: string): text is ObservedSignal {
  return Object.hasOwn(OBSERVED_SIGNALS, text)
}
