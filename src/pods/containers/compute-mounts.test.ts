import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { MountPropagation } from '../../protocols/cri/generated/runtime-v1.ts'
import type { Mount } from '../../protocols/cri/generated/runtime-v1.ts'
import { computeMounts } from './compute-mounts.ts'
import type { ContainerMount, MountsInput } from './compute-mounts.ts'

const volume: ContainerMount = {
  containerPath: '/data',
  hostPath: '/r/volumes/data',
  readOnly: false,
  recursiveReadOnly: false,
  propagation: 'None',
  selinuxRelabel: false,
}
const plain: Mount = {
  containerPath: '/data',
  hostPath: '/r/volumes/data',
  readonly: false,
  recursiveReadOnly: false,
  propagation: MountPropagation.PROPAGATION_PRIVATE,
  selinuxRelabel: false,
  uidMappings: [],
  gidMappings: [],
  image: undefined,
  imageSubPath: '',
}
const hosts: Mount = { ...plain, containerPath: '/etc/hosts', hostPath: '/r/etc-hosts' }
const log: Mount = { ...plain, containerPath: '/dev/termination-log', hostPath: '/r/containers/main/0000002a' }

const compute = (changes: Partial<MountsInput>) =>
  computeMounts({
    pod: createPod(),
    podIps: [],
    mounts: [],
    etcHostsPath: '/r/etc-hosts',
    terminationLog: undefined,
    selinuxEnabled: false,
    userNamespace: undefined,
    ...changes,
  })
const terminationLog = { hostPath: log.hostPath, containerPath: log.containerPath }

describe('computeMounts()', () => {
  test('nothing before the pod has an address', () => assert.deepEqual(compute({}), []))

  test('volumes, then the hosts file, then the termination log', () => {
    const mounts = [volume, { ...volume, containerPath: '/more' }]
    assert.deepEqual(compute({ mounts, podIps: ['10.1.0.2'], terminationLog }), [
      plain,
      { ...plain, containerPath: '/more' },
      hosts,
      log,
    ])
  })

  test('a mount of its own takes the place of the hosts file', () => {
    const mounts = [{ ...volume, containerPath: '/etc/hosts' }]
    assert.deepEqual(compute({ mounts, podIps: ['10.1.0.2'] }), [{ ...plain, containerPath: '/etc/hosts' }])
  })

  test('what may be relabelled is where SELinux is on', () => {
    const mounts = [volume, { ...volume, selinuxRelabel: true }]
    assert.deepEqual(compute({ mounts, podIps: ['10.1.0.2'], terminationLog, selinuxEnabled: true }), [
      plain,
      { ...plain, selinuxRelabel: true },
      { ...hosts, selinuxRelabel: true },
      { ...log, selinuxRelabel: true },
    ])
    assert.deepEqual(compute({ mounts }), [plain, plain])
  })

  test('every mount of a pod with its own users is mapped', () => {
    const userNamespace = {
      uids: [{ hostId: 65536, containerId: 0, length: 65536 }],
      gids: [{ hostId: 131072, containerId: 0, length: 65536 }],
    }
    const mapped = { uidMappings: userNamespace.uids, gidMappings: userNamespace.gids }
    assert.deepEqual(compute({ mounts: [volume], terminationLog, userNamespace }), [
      { ...plain, ...mapped },
      { ...log, ...mapped },
    ])
  })

  test('flags and propagation are passed on', () => {
    const mounts: ContainerMount[] = [
      { ...volume, readOnly: true, recursiveReadOnly: true },
      { ...volume, propagation: 'HostToContainer' },
      { ...volume, propagation: 'Bidirectional' },
    ]
    assert.deepEqual(compute({ mounts }), [
      { ...plain, readonly: true, recursiveReadOnly: true },
      { ...plain, propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER },
      { ...plain, propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL },
    ])
  })

  test('the content of an image has no path on the node', () => {
    const spec = { image: 'sha256:1', userSpecifiedImage: 'data:1', annotations: {}, runtimeHandler: '', imageRef: '' }
    const mounts: ContainerMount[] = [{ ...volume, hostPath: '', readOnly: true, image: { spec, subPath: 'sub' } }]
    assert.deepEqual(compute({ mounts }), [
      { ...plain, hostPath: '', readonly: true, image: spec, imageSubPath: 'sub' },
    ])
  })
})
