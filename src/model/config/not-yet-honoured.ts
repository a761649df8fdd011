import { isDeepStrictEqual } from 'node:util'
import { CONFIGURATION, type GivenConfiguration } from './kubelet-configuration.ts'

/**
 * Fields of features that are not there yet. They are read, checked and kept; where one is set, the start logs that nothing
 * follows from it so far. A feature that arrives takes its fields off this list.
 */
const NOT_YET_HONOURED: readonly (keyof GivenConfiguration)[] = [
  // Volumes.
  'volumePluginDir',
]

/** Those of them that were set to something else than what they are by themselves. */
export function listNotYetHonoured(given: GivenConfiguration): string[] {
  return NOT_YET_HONOURED.filter((name) => !isDeepStrictEqual(given[name], CONFIGURATION.unset[name]))
}
