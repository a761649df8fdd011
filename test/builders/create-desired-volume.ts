import type { Volume } from '../../src/model/generated/core-v1.ts'
import type { DesiredVolume } from '../../src/pods/volumes/desired-volume.ts'
import { createPod } from './create-pod.ts'

/** The volume "data" of the pod "web", wanted in /root/pods/u-1. */
export function createDesiredVolume(volume: Omit<Volume, 'name'>, parts: Partial<DesiredVolume> = {}): DesiredVolume {
  const pod = parts.pod ?? createPod()
  return {
    uid: pod.metadata.uid,
    specName: 'data',
    path: '/root/pods/u-1/volumes/kind/data',
    pod,
    name: 'data',
    source: { kind: 'inline', volume: { name: 'data', ...volume } },
    readOnly: false,
    fsGroup: undefined,
    fsGroupChangePolicy: 'Always',
    fsUser: undefined,
    nestedMountPoints: [],
    ...parts,
  }
}
