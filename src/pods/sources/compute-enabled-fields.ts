import type { FeatureGate } from '../../model/config/gates/feature-gate-table.ts'
import type { FeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { Container, EphemeralContainer, PodSpec } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** A field of a pod that is ignored because its feature gate is off. */
export interface SwitchedOffField {
  /** As in an event: spec.containers[0].restartPolicyRules. */
  readonly path: string
  readonly gate: FeatureGate
}

interface Switch {
  readonly gate: FeatureGate
  readonly find: (spec: PodSpec) => readonly string[]
  readonly remove: (spec: PodSpec) => PodSpec
}

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

type ListName = (typeof LISTS)[number]
type AnyContainer = Container | EphemeralContainer

const RESTART_ALL = 'RestartAllContainers'

const SWITCHES: readonly Switch[] = [
  {
    gate: 'ContainerRestartRules',
    find: (spec) => [
      ...containerPaths(spec, 'restartPolicy', hasOwnPolicy),
      ...containerPaths(spec, 'restartPolicyRules', ({ restartPolicyRules = [] }) => restartPolicyRules.length > 0),
    ],
    remove: (spec) =>
      mapContainers(spec, (container, list) => ({
        ...container,
        restartPolicy: hasOwnPolicy(container, list) ? undefined : container.restartPolicy,
        restartPolicyRules: undefined,
      })),
  },
  {
    gate: 'RestartAllContainersOnContainerExits',
    find: (spec) =>
      containerPaths(spec, 'restartPolicyRules', ({ restartPolicyRules }) => restartsAll(restartPolicyRules)),
    remove: (spec) =>
      mapContainers(spec, (container) =>
        restartsAll(container.restartPolicyRules)
          ? {
              ...container,
              restartPolicyRules: container.restartPolicyRules?.filter(({ action }) => action !== RESTART_ALL),
            }
          : container,
      ),
  },
  {
    gate: 'EnvFiles',
    find: (spec) =>
      containerPaths(spec, 'env', ({ env = [] }) => env.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined)),
    // The variable stays, without a value.
    remove: (spec) =>
      mapContainers(spec, (container) => ({
        ...container,
        env: container.env?.map((each) => (each.valueFrom?.fileKeyRef === undefined ? each : { name: each.name })),
      })),
  },
  {
    gate: 'HostnameOverride',
    find: ({ hostnameOverride }) => (hostnameOverride === undefined ? [] : ['spec.hostnameOverride']),
    remove: (spec) => ({ ...spec, hostnameOverride: undefined }),
  },
]

/** The pod without the fields whose feature is switched off, and which ones these are. A pod that has none of them is returned as it is. */
export function computeEnabledFields(
  pod: Pod,
  gates: FeatureGates,
): { readonly pod: Pod; readonly ignored: readonly SwitchedOffField[] } {
  const off = SWITCHES.filter(({ gate }) => !gates.enabled(gate))
  const ignored = off.flatMap(({ gate, find }) => find(pod.spec).map((path) => ({ path, gate })))
  if (ignored.length === 0) return { pod, ignored }
  const used = off.filter(({ gate }) => ignored.some((field) => field.gate === gate))
  return { pod: { ...pod, spec: used.reduce<PodSpec>((spec, { remove }) => remove(spec), pod.spec) }, ignored }
}

/** The policy of a sidecar is older than the feature: it says what kind of container this is. */
function hasOwnPolicy({ restartPolicy }: AnyContainer, list: ListName): boolean {
  return restartPolicy !== undefined && !(list === 'initContainers' && restartPolicy === 'Always')
}

function restartsAll(rules: Container['restartPolicyRules']): boolean {
  return rules?.some(({ action }) => action === RESTART_ALL) === true
}

function containerPaths(
  spec: PodSpec,
  field: string,
  asks: (container: AnyContainer, list: ListName) => boolean,
): readonly string[] {
  return LISTS.flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) =>
      asks(container, list) ? [`spec.${list}[${index}].${field}`] : [],
    ),
  )
}

function mapContainers(spec: PodSpec, change: <T extends AnyContainer>(container: T, list: ListName) => T): PodSpec {
  const { containers, initContainers, ephemeralContainers } = spec
  return {
    ...spec,
    containers: containers.map((each) => change(each, 'containers')),
    ...(initContainers && { initContainers: initContainers.map((each) => change(each, 'initContainers')) }),
    ...(ephemeralContainers && {
      ephemeralContainers: ephemeralContainers.map((each) => change(each, 'ephemeralContainers')),
    }),
  }
}
