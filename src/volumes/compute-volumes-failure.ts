import { VolumesError } from '../model/volumes-error.ts'

/** What users read about volumes that did not come, in the words that tools look for. */
export function computeVolumesFailure(
  volumes: {
    readonly unmounted: readonly string[]
    /** Why volumes could not be found out, by name. */
    readonly failures: ReadonlyMap<string, string>
  },
  cause: unknown,
): VolumesError {
  const { unmounted, failures } = volumes
  const list = (names: Iterable<string>) => `[${[...names].sort().join(' ')}]`
  const why = failures.size === 0 ? 'timed out waiting for the condition' : [...failures.values()].sort().join('; ')
  // Nothing is attached by this agent, so nothing can be unattached.
  const text = `unmounted volumes=${list(unmounted)}, unattached volumes=[], failed to process volumes=${list(failures.keys())}: ${why}`
  return new VolumesError(text, { cause })
}
