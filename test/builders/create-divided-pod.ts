import type { Container } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createContainer, createPod } from './create-pod.ts'

/**
 * A Guaranteed pod with resources of its own; "init side:2 a:1 b" are its containers, by the beginning of their names, and those with a
 * number would be Guaranteed alone, with so many CPUs and GiB.
 */
export function createDividedPod(
  uid: string,
  {
    cpu = '4',
    memory = '4',
    containers,
  }: { readonly cpu?: string; readonly memory?: string; readonly containers: string },
): Pod {
  const all = containers.split(' ').map((text) => {
    const [name = '', amount] = text.split(':')
    const own = { cpu: amount ?? '', memory: `${amount ?? ''}Gi` }
    return createContainer({
      name,
      ...(amount === undefined ? {} : { resources: { requests: own, limits: own } }),
      ...(name.startsWith('side') ? { restartPolicy: 'Always' } : {}),
    })
  })
  const isInit = ({ name }: Container) => name.startsWith('init') || name.startsWith('side')
  const own = { cpu, memory: `${memory}Gi` }
  return createPod({
    metadata: { uid, name: uid },
    spec: {
      resources: { requests: own, limits: own },
      initContainers: all.filter(isInit),
      containers: all.filter((container) => !isInit(container)),
    },
  })
}
