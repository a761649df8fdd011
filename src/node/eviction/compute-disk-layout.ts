import { OBSERVED_SIGNALS } from './observed-signal.ts'
import type { ObservedSignal } from './observed-signal.ts'

/**
 * Where images and what containers write are. Shared: on the file system of the agent. Separate: both on another one. Split: images on another
 * one, and what containers write on that of the agent.
 */
export type DiskLayout = 'shared' | 'separate' | 'split'

/** The parts of a pod that count. */
export type DiskPart = 'rootfs' | 'logs' | 'volumes'

/** What the node can give up itself before pods have to. */
export type Reclaimable = 'containers' | 'images'

type OnDevice = { readonly device: string }

/** Undefined when the runtime does not say where images are. */
export function computeDiskLayout({
  fs,
  imageFs,
  containerFs,
}: {
  readonly fs: OnDevice
  readonly imageFs: OnDevice | undefined
  readonly containerFs: OnDevice | undefined
}): DiskLayout | undefined {
  if (imageFs === undefined) return undefined
  if (imageFs.device === fs.device) return 'shared'
  return containerFs === undefined || containerFs.device === imageFs.device ? 'separate' : 'split'
}

/** What pods can give back of what is missing. */
export function computeDiskParts(signal: ObservedSignal, layout: DiskLayout): readonly DiskPart[] {
  const isImages = OBSERVED_SIGNALS[signal].fileSystem === 'images'
  if (layout === 'separate') return isImages ? ['rootfs'] : ['logs', 'volumes']
  // Images belong to no pod.
  if (layout === 'split' && isImages) return []
  return ['rootfs', 'logs', 'volumes']
}

export function computeReclaimable(signal: ObservedSignal, layout: DiskLayout): readonly Reclaimable[] {
  const { fileSystem } = OBSERVED_SIGNALS[signal]
  if (fileSystem === undefined) return []
  const isImages = fileSystem === 'images'
  if (layout === 'shared') return ['containers', 'images']
  if (layout === 'separate') return isImages ? ['containers', 'images'] : []
  return isImages ? ['images'] : ['containers']
}
