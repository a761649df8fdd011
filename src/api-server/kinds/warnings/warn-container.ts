import type { Container, EnvVar, PodSpec } from '../../../model/generated/core-v1.ts'
import type { FieldPath } from '../../../model/schema/field-path.ts'
import { warnOfFractions } from './warn-fractions.ts'
import { warningAt } from './warning-at.ts'

const SECCOMP_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/'
const APPARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/'

export interface PlacedContainer {
  readonly container: Pick<Container, 'name' | 'ports' | 'env' | 'resources' | 'securityContext'>
  readonly path: FieldPath
}

/** The containers of a pod in the order in which the API goes through them. */
export function containersWithPaths(spec: PodSpec, at: FieldPath): readonly PlacedContainer[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, index) => ({ container, path: at.child(list).index(index) })),
  )
}

/** Advice about one container. */
export function warnOfContainer(
  { name, env = [], resources, securityContext }: PlacedContainer['container'],
  path: FieldPath,
  pod: { readonly annotations: Readonly<Record<string, string>>; readonly path: FieldPath; readonly spec: PodSpec },
): readonly string[] {
  const warnings: string[] = []
  const annotations = pod.path.child('metadata').child('annotations')
  const seccomp = `${SECCOMP_PREFIX}${name}`
  if (securityContext?.seccompProfile === undefined && seccomp in pod.annotations)
    warnings.push(
      warningAt(annotations.key(seccomp), 'non-functional in v1.27+; use the "seccompProfile" field instead'),
    )
  const appArmor = `${APPARMOR_PREFIX}${name}`
  const hasProfile = (securityContext?.appArmorProfile ?? pod.spec.securityContext?.appArmorProfile) !== undefined
  if (!hasProfile && appArmor in pod.annotations)
    warnings.push(
      warningAt(annotations.key(appArmor), 'deprecated since v1.30; use the "appArmorProfile" field instead'),
    )
  for (const resource of ['memory', 'ephemeral-storage']) {
    for (const list of ['limits', 'requests'] as const)
      warnings.push(...warnOfFractions(resources?.[list], path.child('resources').child(list), [resource]))
  }
  return [...warnings, ...warnOfVariables(env, path.child('env'))]
}

/** A variable that is set again, unless its new value is made of the old one. */
function warnOfVariables(env: readonly EnvVar[], path: FieldPath): readonly string[] {
  const seen = new Set<string>()
  return env.flatMap(({ name, value = '', valueFrom }, index) => {
    const isNew = !seen.has(name)
    seen.add(name)
    const self = `$(${name})`
    if (isNew || (valueFrom === undefined && value !== self && value.includes(self))) return []
    return [
      warningAt(
        path.index(index),
        `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      ),
    ]
  })
}
