import type { ConfigProblem } from '../config-error.ts'
import { CONFIGURATION, type GivenConfiguration } from '../kubelet-configuration.ts'
import { formatGoDuration } from '../values/go-duration.ts'

/** A configuration, and the values that were replaced in it because they can only hurt. */
export interface SensibleConfiguration {
  readonly config: GivenConfiguration
  readonly replaced: readonly ConfigProblem[]
}

// Nothing can be done more often than without a pause, nor in less than no time.
const PERIODS = [
  'fileCheckFrequency',
  'httpCheckFrequency',
  'nodeStatusUpdateFrequency',
  'nodeStatusReportFrequency',
  'cpuManagerReconcilePeriod',
  'runtimeRequestTimeout',
  'streamingConnectionIdleTimeout',
  'evictionPressureTransitionPeriod',
] as const

/** The Go kubelet takes these values, and then spins, panics or waits for nothing: they are replaced, with a word about it. */
export function replaceSenseless(given: GivenConfiguration): SensibleConfiguration {
  const periods = PERIODS.filter((name) => given[name] < 0)
  const defaults = Object.fromEntries(periods.map((name) => [name, CONFIGURATION.unset[name]]))
  const groups = given.shutdownGracePeriodByPodPriority
  return {
    config: {
      ...given,
      ...defaults,
      podPidsLimit: Math.max(given.podPidsLimit, -1),
      shutdownGracePeriodByPodPriority: groups.map((group) =>
        group.shutdownGracePeriodSeconds < 0 ? { ...group, shutdownGracePeriodSeconds: 0 } : group,
      ),
    },
    replaced: [
      ...periods.map((path) => {
        const instead = formatGoDuration(CONFIGURATION.unset[path])
        return { path, value: formatGoDuration(given[path]), rule: `expected 0s or more, ${instead} is used` }
      }),
      ...(given.podPidsLimit < -1
        ? [{ path: 'podPidsLimit', value: given.podPidsLimit, rule: 'expected -1 or more, there is no limit' }]
        : []),
      ...listOddGroups(groups),
    ],
  }
}

function listOddGroups(groups: GivenConfiguration['shutdownGracePeriodByPodPriority']): readonly ConfigProblem[] {
  return groups.flatMap(({ priority, shutdownGracePeriodSeconds: seconds }, index) => {
    const at = `shutdownGracePeriodByPodPriority[${index}]`
    const isNegative = seconds < 0
    const isRepeated = groups.slice(0, index).some((other) => other.priority === priority)
    const rule = 'expected each priority once, of several the last one counts'
    return [
      ...(isNegative
        ? [{ path: `${at}.shutdownGracePeriodSeconds`, value: seconds, rule: 'expected 0 or more, 0 is used' }]
        : []),
      ...(isRepeated ? [{ path: `${at}.priority`, value: priority, rule }] : []),
    ]
  })
}
