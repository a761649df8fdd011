import { VolumesError } from '../../model/pod/volumes-error.ts'

/** What users read about volumes that were not mounted, in the words that tools match on. */
export function computeVolumesFailure(
  volumes: {
    readonly unmounted: readonly string[]
    /** Those of them that wait to be attached by the cluster. */
    readonly unattached: readonly string[]
    /** Why volumes could not be found out, by name. */
    readonly failures: ReadonlyMap<string, string>
  },
  cause: unknown,
): VolumesError {
  const { unmounted, unattached, failures } = volumes
  const list = (names: Iterable<string>) => `[${[...names].sort().join(' ')}]`
  const why = failures.size === 0 ? 'context deadline exceeded' : [...failures.values()].sort().join('; ')
  const text = `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, failed to process volumes=${list(failures.keys())}: ${why}`
  return new VolumesError(text, { cause })
}
