import { sameResources } from './same-resources.ts'
import { isSidecar } from '../pod/pod-containers.ts'
import type { Pod } from '../pod/pod.ts'

type Spec = Pick<Pod, 'spec'>

// Parity: k8s.io/component-helpers/nodedeclaredfeatures. In its order, which the messages show.
const NEEDED_TO_RUN: Readonly<Record<string, (pod: Spec) => boolean>> = {
  RestartAllContainersOnContainerExits: ({ spec }) =>
    [...spec.containers, ...(spec.initContainers ?? [])].some(({ restartPolicyRules }) =>
      restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ spec }) => spec.hostNetwork === true && spec.hostUsers === false,
}

const NEEDED_TO_UPDATE: Readonly<Record<string, (before: Spec, after: Spec) => boolean>> = {
  InPlacePodLevelResourcesVerticalScaling: (before, after) =>
    !sameResources(before.spec.resources, after.spec.resources),
  InPlacePodVerticalScalingInitContainers: (before, after) =>
    (before.spec.initContainers ?? []).some(
      (container, index) =>
        !isSidecar(container) && !sameResources(container.resources, after.spec.initContainers?.[index]?.resources),
    ),
}

/** The features that a node has to declare to run the pod. */
export function featuresToRun(pod: Spec): readonly string[] {
  return Object.entries(NEEDED_TO_RUN).flatMap(([name, isNeeded]) => (isNeeded(pod) ? [name] : []))
}

/** The features that a node has to declare to carry out a change of a pod that it runs. */
export function featuresToUpdate(before: Spec, after: Spec): readonly string[] {
  return Object.entries(NEEDED_TO_UPDATE).flatMap(([name, isNeeded]) => (isNeeded(before, after) ? [name] : []))
}
