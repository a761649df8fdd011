import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeSpec, Volume } from '../../model/generated/core-v1.ts'
import { computeVolumePlugin } from './compute-volume-plugin.ts'

test('computeVolumePlugin() finds the plugin of a source, and none for what no plugin mounts', () => {
  const inline: readonly (readonly [Partial<Volume>, string | undefined])[] = [
    [{ emptyDir: {} }, 'kubernetes.io/empty-dir'],
    [{ hostPath: { path: '/' } }, 'kubernetes.io/host-path'],
    [{ configMap: {} }, 'kubernetes.io/configmap'],
    [{ secret: {} }, 'kubernetes.io/secret'],
    [{ downwardAPI: {} }, 'kubernetes.io/downward-api'],
    [{ projected: {} }, 'kubernetes.io/projected'],
    [{ nfs: { server: 's', path: '/' } }, 'kubernetes.io/nfs'],
    [{ csi: { driver: 'd' } }, 'kubernetes.io/csi'],
    [{ gitRepo: { repository: 'x' } }, undefined],
    [{}, undefined],
  ]
  for (const [parts, expected] of inline)
    assert.equal(computeVolumePlugin({ kind: 'inline', volume: { name: 'x', ...parts } }), expected)
  const persistent: readonly (readonly [PersistentVolumeSpec, string | undefined])[] = [
    [{ hostPath: { path: '/' } }, 'kubernetes.io/host-path'],
    [{ local: { path: '/' } }, 'kubernetes.io/local-volume'],
    [{ nfs: { server: 's', path: '/' } }, 'kubernetes.io/nfs'],
    [{ csi: { driver: 'd', volumeHandle: 'h' } }, 'kubernetes.io/csi'],
    [{ iscsi: { iqn: 'i', lun: 0, targetPortal: 'p' } }, 'kubernetes.io/iscsi'],
    [{ fc: { wwids: ['w'] } }, 'kubernetes.io/fc'],
    [{ flexVolume: { driver: 'd' } }, undefined],
  ]
  for (const [spec, expected] of persistent) {
    const claim = { namespace: 'n', name: 'c' }
    assert.equal(computeVolumePlugin({ kind: 'persistent', volume: { spec }, claim }), expected)
  }
})
