import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec, VolumeMount } from '../../model/generated/core-v1.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computeUsedVolumes, computeDesiredVolume } from './compute-desired-volumes.ts'
import type { VolumeSource } from './desired-volume.ts'

const data = { name: 'data', emptyDir: {} }
const mountOf = (name: string, mountPath = `/${name}`): VolumeMount => ({ name, mountPath })

describe('computeUsedVolumes()', () => {
  test('has the volumes that a container of any list uses, as files or as a device', () => {
    const volumes = ['init', 'main', 'debug', 'disk', 'unused'].map((name) => ({ name, emptyDir: {} }))
    const pod = createPod({
      spec: {
        volumes: [...volumes, { name: 'art', image: { reference: 'x' } }],
        initContainers: [createContainer({ volumeMounts: [mountOf('init')] })],
        containers: [
          createContainer({
            volumeMounts: [mountOf('main'), mountOf('art'), mountOf('unknown')],
            volumeDevices: [{ name: 'disk', devicePath: '/dev/x' }],
          }),
        ],
        ephemeralContainers: [{ name: 'debug', volumeMounts: [mountOf('debug')] }],
      },
    })
    assert.deepEqual(
      computeUsedVolumes(pod).map(({ volume, asFiles, asDevice }) => [volume.name, asFiles, asDevice]),
      [
        ['init', true, false],
        ['main', true, false],
        ['debug', true, false],
        ['disk', false, true],
      ],
    )
  })
})

function desiredOf(spec: Partial<PodSpec>, source: VolumeSource = { kind: 'inline', volume: data }, asDevice = false) {
  const pod = createPod({ spec: { volumes: [data], ...spec } })
  const volume = spec.volumes?.[0] ?? data
  const used = { volume, asFiles: !asDevice, asDevice }
  return computeDesiredVolume({ pod, used, plugin: 'example.org/kind', source, rootDirectory: '/root' })
}

describe('computeDesiredVolume()', () => {
  const persistent = (spec: object): VolumeSource => ({
    kind: 'persistent',
    volume: { metadata: { name: 'pv-1' }, spec },
    claim: { namespace: 'shop', name: 'data' },
  })
  const claim = { name: 'data', persistentVolumeClaim: { claimName: 'data', readOnly: true } }

  test('is at the place of its plugin, under the name of the persistent volume where there is one', () => {
    assert.deepEqual(
      [desiredOf({}), desiredOf({}, persistent({})), desiredOf({}, persistent({}), true)].map(
        ({ specName, path, name }) => [name, specName, path],
      ),
      [
        ['data', 'data', '/root/pods/u-1/volumes/example.org~kind/data'],
        ['data', 'pv-1', '/root/pods/u-1/volumes/example.org~kind/pv-1'],
        ['data', 'pv-1', '/root/pods/u-1/volumeDevices/example.org~kind/pv-1'],
      ],
    )
  })

  test('is read-only when the claim or the volume says so', () => {
    const nfs = { name: 'data', nfs: { server: 's', path: '/', readOnly: true } }
    assert.deepEqual(
      [
        desiredOf({}),
        desiredOf({}, persistent({})),
        desiredOf({ volumes: [claim] }, persistent({})),
        desiredOf({}, persistent({ nfs: nfs.nfs })),
        desiredOf({ volumes: [nfs] }, { kind: 'inline', volume: nfs }),
      ].map(({ readOnly }) => readOnly),
      [false, false, true, true, true],
    )
  })

  test('carries group and policy of the pod', () => {
    const rows = [{}, { fsGroup: 5, fsGroupChangePolicy: 'OnRootMismatch' }, { fsGroupChangePolicy: 'Always' }]
    assert.deepEqual(
      rows
        .map((securityContext) => desiredOf({ securityContext }))
        .map(({ fsGroup, fsGroupChangePolicy }) => [fsGroup, fsGroupChangePolicy]),
      [
        [undefined, 'Always'],
        [5, 'OnRootMismatch'],
        [undefined, 'Always'],
      ],
    )
  })

  test('has a user only when all containers run as that one', () => {
    const as = (runAsUser?: number) => createContainer({ securityContext: { runAsUser } })
    const rows: readonly (readonly [Partial<PodSpec>, number | undefined])[] = [
      [{ containers: [as()] }, undefined],
      [{ containers: [as(7)] }, 7],
      [{ containers: [as(7), as(7)], initContainers: [as(7)] }, 7],
      [{ containers: [as(7)], initContainers: [as(8)] }, undefined],
      [{ containers: [as(7), as()] }, undefined],
      [{ containers: [as(7), as()], securityContext: { runAsUser: 7 } }, 7],
      [{ containers: [as(0)], securityContext: { runAsUser: 7 } }, 0],
    ]
    for (const [spec, expected] of rows) assert.equal(desiredOf(spec).fsUser, expected)
  })

  test('knows the directories that other mounts need inside the volume', () => {
    const rows: readonly (readonly [readonly VolumeMount[], readonly string[]])[] = [
      [[mountOf('data', '/etc/app')], []],
      [[mountOf('data', '/etc/app'), mountOf('x', '/etc/app2')], []],
      [[mountOf('x', '/etc/app/certs/'), mountOf('data', '/etc/app')], ['certs']],
      [
        [mountOf('data', '/a'), mountOf('x', '/a/b/c'), mountOf('y', '/a/b/c/d'), mountOf('z', '/a/./x/../e')],
        ['b/c', 'e'],
      ],
      [[{ ...mountOf('data', '/a'), subPath: 's' }, mountOf('x', '/a/b')], []],
      [[mountOf('data', '/'), mountOf('x', '/../../b')], ['b']],
    ]
    for (const [volumeMounts, expected] of rows) {
      const spec = { containers: [createContainer({ volumeMounts })] }
      assert.deepEqual(desiredOf(spec).nestedMountPoints, expected)
    }
  })
})
