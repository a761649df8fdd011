import type { Container, EphemeralContainer, Volume } from '../../model/generated/core-v1.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** Names of what a pod reads, all in its own namespace; each once. */
export interface PodReferences {
  readonly configMaps: readonly string[]
  readonly secrets: readonly string[]
}

/** The ConfigMaps and Secrets that a pod names anywhere: environment, volumes, image pull secrets. */
export function podReferences(pod: Pod): PodReferences {
  const parts = [
    ...allContainers(pod).map(({ container }) => containerReferences(container)),
    ...(pod.spec.volumes ?? []).map(volumeReferences),
    { secrets: (pod.spec.imagePullSecrets ?? []).map(({ name }) => name) },
  ]
  return {
    configMaps: distinct(parts.flatMap(({ configMaps = [] }) => configMaps)),
    secrets: distinct(parts.flatMap(({ secrets = [] }) => secrets)),
  }
}

/** Empty names say nothing: Kubernetes accepts them for reasons of its past. */
interface Names {
  readonly configMaps?: readonly (string | undefined)[]
  readonly secrets?: readonly (string | undefined)[]
}

function distinct(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.flatMap((name) => (name === undefined || name === '' ? [] : [name])))]
}

function containerReferences({ env = [], envFrom = [] }: Container | EphemeralContainer): Names {
  return {
    configMaps: [
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ],
    secrets: [
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ],
  }
}

function volumeReferences({ configMap, secret, projected, csi }: Volume): Names {
  const sources = projected?.sources ?? []
  return {
    configMaps: [configMap?.name, ...sources.map((source) => source.configMap?.name)],
    secrets: [secret?.secretName, csi?.nodePublishSecretRef?.name, ...sources.map((source) => source.secret?.name)],
  }
}
