import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import type { PersistentVolume, PersistentVolumeClaim, Volume } from '../../../model/generated/core-v1.ts'
import { ObjectError } from '../../objects/object-api.ts'
import { findVolumeSource } from './find-volume-source.ts'

const never = new AbortController().signal
const claimVolume: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'c' } }
const bound: PersistentVolumeClaim = {
  metadata: { uid: 'claim-uid' },
  spec: { volumeName: 'pv' },
  status: { phase: 'Bound' },
}
const good: PersistentVolume = {
  metadata: { name: 'pv' },
  spec: { local: { path: '/d' }, claimRef: { uid: 'claim-uid' } },
}

interface Given {
  readonly volume?: Volume
  readonly claim?: PersistentVolumeClaim | Error
  readonly persistent?: PersistentVolume | Error
  readonly asFiles?: boolean
  readonly asDevice?: boolean
}

function find({ volume = claimVolume, claim = bound, persistent = good, asFiles = true, asDevice = false }: Given) {
  const asked: string[] = []
  const answer = async <T>(what: string, given: T | Error): Promise<T> => {
    asked.push(what)
    if (given instanceof Error) throw given
    return given
  }
  const deps = {
    objects: {
      claim: ({ namespace, name }: { namespace: string; name: string }) => answer(`${namespace}/${name}`, claim),
      persistentVolume: (name: string) => answer(name, persistent),
    },
    node: () => ({ metadata: { name: 'n', labels: { zone: 'a' } } }),
  }
  const found = findVolumeSource(deps, { pod: createPod(), used: { volume, asFiles, asDevice } }, never)
  return { asked, found }
}

const meta = (parts: object): PersistentVolumeClaim => ({ ...bound, metadata: { uid: 'claim-uid', ...parts } })
const spec = (parts: object): PersistentVolume => ({ ...good, spec: { ...good.spec, ...parts } })
const ephemeral: Volume = { name: 'data', ephemeral: {} }
const owner = (uid: string, controller: boolean) =>
  meta({ ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller }] })
const zone = (value: string) => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }] },
  },
})

const finds: readonly (readonly [string, Given])[] = [
  ['a claim that is bound', {}],
  [
    'one that is being deleted but protected',
    { claim: meta({ deletionTimestamp: 'x', finalizers: ['kubernetes.io/pvc-protection'] }) },
  ],
  ['a block device', { persistent: spec({ volumeMode: 'Block' }), asFiles: false, asDevice: true }],
  ['a claim that was made for this pod', { volume: ephemeral, claim: owner('u-1', true) }],
  ['a volume for nodes like this one', { persistent: spec(zone('a')) }],
  ['options for a kind that takes them', { persistent: spec({ mountOptions: ['noatime'] }) }],
]

const refusals: readonly (readonly [string, Given, message: string])[] = [
  [
    'a claim that is not there',
    { claim: new ObjectError('NotFound', 'persistentvolumeclaims "c" not found') },
    'error processing PVC shop/c: failed to fetch PVC from API server: persistentvolumeclaims "c" not found',
  ],
  [
    'one that is being deleted',
    { claim: meta({ deletionTimestamp: 'x', finalizers: ['other'] }) },
    'error processing PVC shop/c: PVC is being deleted',
  ],
  [
    'one that is being deleted and not bound, the former first',
    { claim: { metadata: { deletionTimestamp: 'x' } } },
    'error processing PVC shop/c: PVC is being deleted',
  ],
  [
    'one that is pending',
    { claim: { ...bound, status: { phase: 'Pending' } } },
    'error processing PVC shop/c: PVC is not bound',
  ],
  ['one without a volume', { claim: { ...bound, spec: {} } }, 'error processing PVC shop/c: PVC is not bound'],
  [
    'a claim of another pod under the name of an ephemeral one',
    { volume: ephemeral, claim: owner('u-2', true) },
    'PVC shop/web-data was not created for pod shop/web (pod is not owner)',
  ],
  [
    'a claim that this pod owns but does not control',
    { volume: ephemeral, claim: owner('u-1', false) },
    'PVC shop/web-data was not created for pod shop/web (pod is not owner)',
  ],
  [
    'a volume that is not there',
    { persistent: new ObjectError('Unavailable', 'away') },
    'error processing PVC shop/c: failed to fetch PV pv from API server: away',
  ],
  [
    'a volume without a claim',
    { persistent: { metadata: { name: 'pv' }, spec: {} } },
    'error processing PVC shop/c: found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
  ],
  [
    'a volume of another claim',
    { persistent: spec({ claimRef: { uid: 'other' } }) },
    'error processing PVC shop/c: found PV object pv but its pv.Spec.ClaimRef.UID other does not point to claim.UID claim-uid',
  ],
  [
    'a block device among the mounts',
    { persistent: spec({ volumeMode: 'Block' }) },
    'volume data has volumeMode Block, but is specified in volumeMounts',
  ],
  [
    'a file system among the devices',
    { asFiles: false, asDevice: true },
    'volume data has volumeMode Filesystem, but is specified in volumeDevices',
  ],
  [
    'an emptyDir among the devices',
    { volume: { name: 'data', emptyDir: {} }, asFiles: false, asDevice: true },
    'volume data has volumeMode Filesystem, but is specified in volumeDevices',
  ],
  [
    'both',
    { persistent: spec({ volumeMode: 'Block' }), asDevice: true },
    'volume data has volumeMode Block, but is specified in volumeMounts',
  ],
  [
    'a volume for other nodes',
    { persistent: spec(zone('b')) },
    'MountVolume.NodeAffinity check failed for volume "pv" : no matching NodeSelectorTerms',
  ],
  [
    'options for a path of the node',
    {
      persistent: { ...good, spec: { claimRef: { uid: 'claim-uid' }, hostPath: { path: '/d' }, mountOptions: ['ro'] } },
    },
    'volume "pv": mount options are not supported for this volume type',
  ],
]

describe('findVolumeSource()', () => {
  test('gives a volume that is no claim as it is, without asking', async () => {
    const volume = { name: 'data', emptyDir: {} }
    const { asked, found } = find({ volume })
    assert.deepEqual([await found, asked], [{ kind: 'inline', volume }, []])
  })

  for (const [name, given] of finds) {
    test(`finds ${name}`, async () => {
      const { asked, found } = find(given)
      const claim = { namespace: 'shop', name: given.volume === ephemeral ? 'web-data' : 'c' }
      assert.deepEqual(await found, { kind: 'persistent', volume: given.persistent ?? good, claim })
      assert.deepEqual(asked, [`shop/${claim.name}`, 'pv'])
    })
  }

  for (const [name, given, message] of refusals) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(find(given).found, { name: 'ClaimError', message })
    })
  }
})
