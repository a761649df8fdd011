import type { Container, Pod } from '../../../model/generated/core-v1.ts'

// What the API adds to each pod for its service account, with a name that it makes up.
const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{5}$/

/** A pod like this one, to be created in its place: what was asked for, without what happened to it since. */
export function toNewPod({ metadata = {}, spec }: Pod): object {
  const { name, namespace, labels, annotations, finalizers } = metadata
  const {
    nodeName: _1,
    ephemeralContainers: _2,
    priority: _3,
    volumes = [],
    initContainers,
    containers,
    ...rest
  } = spec ?? { containers: [] }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels, annotations, finalizers },
    spec: {
      ...rest,
      volumes: volumes.filter((volume) => !TOKEN_VOLUME.test(volume.name)),
      ...(initContainers !== undefined && { initContainers: initContainers.map(withoutToken) }),
      containers: containers.map(withoutToken),
    },
  }
}

function withoutToken(container: Container): Container {
  const { volumeMounts } = container
  if (volumeMounts === undefined) return container
  return { ...container, volumeMounts: volumeMounts.filter(({ name }) => !TOKEN_VOLUME.test(name)) }
}
