import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StorageClass } from '../../model/generated/api-groups.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import type { Live } from '../engine/live-object.ts'
import { computeClaimStep } from './compute-claim-step.ts'
import type { ClaimInput, ClaimStep } from './compute-claim-step.ts'

const NODE = { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'host', zone: 'a' } } }
const identity = (name: string, namespace = '') => ({ name, namespace, uid: `u-${name}`, resourceVersion: '1' })

interface ClaimParts {
  readonly spec?: PersistentVolumeClaim['spec']
  readonly annotations?: Readonly<Record<string, string>>
  readonly status?: PersistentVolumeClaim['status']
}

function claim({
  spec,
  annotations = {},
  status = { phase: 'Pending' },
}: ClaimParts = {}): Live<PersistentVolumeClaim> {
  const size = { requests: { storage: '1Gi' } }
  return {
    metadata: { ...identity('c', 'shop'), annotations },
    spec: { storageClassName: 'standard', accessModes: ['ReadWriteOnce'], resources: size, ...spec },
    status,
  }
}

function storageClass(more: Partial<Omit<StorageClass, 'metadata'>> = {}): Live<StorageClass> {
  return { metadata: identity('standard'), provisioner: 'deckhand.local/folder', reclaimPolicy: 'Delete', ...more }
}

function pod(name: string, nodeName = ''): Pod {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]
  return { metadata: identity(name, 'shop'), spec: { containers: [], nodeName, volumes } }
}

const LATE = storageClass({ volumeBindingMode: 'WaitForFirstConsumer' })
const SELECTED = { 'volume.kubernetes.io/selected-node': 'n1' }
const local = (more: PersistentVolume = {}): PersistentVolume => ({
  metadata: { ...identity('pv'), annotations: { 'pv.kubernetes.io/provisioned-by': 'deckhand.local/folder' } },
  ...more,
})
const bound = (asked: string, has: string) =>
  claim({
    spec: { volumeName: 'pv', resources: { requests: { storage: asked } } },
    status: { phase: 'Bound', capacity: { storage: has } },
  })

function show(step: ClaimStep): string {
  switch (step.kind) {
    case 'report':
      return `${step.type} ${step.reason}: ${step.message}`
    case 'select':
      return `select ${step.nodeName}`
    case 'await':
      return `await ${step.provisioner}`
    case 'refuse':
      return `refuse: ${step.message}`
    case 'provision':
      return `provision ${step.volume.metadata.name}`
    case 'expand':
      return `expand to ${step.size}`
    case 'nothing':
      return 'nothing'
  }
}

const rows: readonly (readonly [what: string, input: Partial<ClaimInput>, expected: string])[] = [
  ['a volume is made at once', {}, 'provision pvc-u-c'],
  [
    'no class',
    { claim: claim({ spec: { storageClassName: '' } }), storageClass: undefined },
    'Normal FailedBinding: no persistent volumes available for this claim and no storage class is set',
  ],
  [
    'a class that is not there',
    { storageClass: undefined },
    'Warning ProvisioningFailed: storageclass.storage.k8s.io "standard" not found',
  ],
  [
    'volumes that people make',
    { storageClass: storageClass({ provisioner: 'kubernetes.io/no-provisioner' }) },
    'Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner',
  ],
  ['another provisioner', { storageClass: storageClass({ provisioner: 'example.com/x' }) }, 'await example.com/x'],
  ['no node yet', { node: undefined }, 'nothing'],
  [
    'no pod needs it yet',
    { storageClass: LATE },
    'Normal WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ],
  [
    'a pod that has no node',
    { storageClass: LATE, pods: [pod('web')] },
    'Normal WaitForPodScheduled: waiting for pod web to be scheduled',
  ],
  [
    'two of them',
    { storageClass: LATE, pods: [pod('a'), pod('b')] },
    'Normal WaitForPodScheduled: waiting for pods a,b to be scheduled',
  ],
  ['a pod that was put on the node', { storageClass: LATE, pods: [pod('web', 'n1')] }, 'select n1'],
  [
    'a pod on another node',
    { storageClass: LATE, pods: [pod('web', 'n2')] },
    'Normal WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ],
  ['the node is chosen', { storageClass: LATE, claim: claim({ annotations: SELECTED }) }, 'provision pvc-u-c'],
  [
    'another node is chosen',
    { storageClass: LATE, claim: claim({ annotations: { 'volume.kubernetes.io/selected-node': 'n2' } }) },
    'nothing',
  ],
  [
    'a block device',
    { claim: claim({ spec: { volumeMode: 'Block' } }) },
    'refuse: a folder cannot be a block device: volumeMode must be Filesystem',
  ],
  ['a selector', { claim: claim({ spec: { selector: {} } }) }, 'refuse: claim.Spec.Selector is not supported'],
  [
    'a data source',
    { claim: claim({ spec: { dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } } }) },
    'refuse: volumes with a data source are not supported',
  ],
  [
    'a parameter',
    { storageClass: storageClass({ parameters: { fsType: 'xfs' } }) },
    'refuse: the class has the parameter "fsType": deckhand.local/folder has no parameters',
  ],
  [
    'another zone',
    {
      storageClass: storageClass({ allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['b'] }] }] }),
    },
    'refuse: the allowedTopologies of the class exclude this node',
  ],
  ['a volume by name that is not there', { claim: claim({ spec: { volumeName: 'x' } }) }, 'nothing'],
  [
    'a volume by name that another has',
    { claim: claim({ spec: { volumeName: 'pv' } }), volume: local({ spec: { claimRef: { name: 'd' } } }) },
    'Warning FailedBinding: volume "pv" already bound to a different claim.',
  ],
  [
    'a volume by name that is too small',
    { claim: claim({ spec: { volumeName: 'pv' } }), volume: local({ spec: { capacity: { storage: '1Mi' } } }) },
    'Warning VolumeMismatch: Cannot bind to requested volume "pv": requested PV is too small',
  ],
  [
    'its volume is gone',
    { claim: claim({ status: { phase: 'Lost' } }) },
    'Warning ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  ],
  ['bound', { claim: bound('1Gi', '1Gi'), volume: local() }, 'nothing'],
  ['bound to a larger one', { claim: bound('1Gi', '2Gi'), volume: local() }, 'nothing'],
  ['more is asked for', { claim: bound('2Gi', '1Gi'), volume: local() }, 'expand to 2Gi'],
  [
    'more of a volume that is not ours',
    { claim: bound('2Gi', '1Gi'), volume: { metadata: { name: 'pv' } } },
    'Normal ExternalExpanding: waiting for an external controller to expand this PVC',
  ],
]

describe('computeClaimStep()', () => {
  const input: ClaimInput = {
    claim: claim(),
    storageClass: storageClass(),
    volume: undefined,
    pods: [],
    node: NODE,
    root: '/state/volumes',
  }
  for (const [what, overrides, expected] of rows)
    test(what, () => assert.equal(show(computeClaimStep({ ...input, ...overrides })), expected))

  test('the volume is a folder of the node with what the claim and its class ask for', () => {
    const made = computeClaimStep({ ...input, storageClass: storageClass({ mountOptions: ['noatime'] }) })
    assert.deepEqual(made.kind === 'provision' && made.volume, {
      metadata: {
        name: 'pvc-u-c',
        annotations: { 'pv.kubernetes.io/provisioned-by': 'deckhand.local/folder' },
        finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'],
      },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        storageClassName: 'standard',
        persistentVolumeReclaimPolicy: 'Delete',
        mountOptions: ['noatime'],
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: 'shop',
          name: 'c',
          uid: 'u-c',
          resourceVersion: '1',
        },
        local: { path: '/state/volumes/pvc-u-c' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['host'] }] },
            ],
          },
        },
      },
    })
    const kept = computeClaimStep({ ...input, storageClass: storageClass({ reclaimPolicy: 'Retain' }) })
    assert.equal(kept.kind === 'provision' && kept.volume.metadata.finalizers, undefined)
  })
})
