import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { containerLogPath, containerLogSymlink, podLogDirectory } from './log-paths.ts'

test('podLogDirectory() and containerLogPath() name the files as the Go kubelet does', () => {
  assert.equal(podLogDirectory('/var/log/pods', createPod()), '/var/log/pods/shop_web_u-1')
  assert.equal(containerLogPath('main', 3), 'main/3.log')
})

test('containerLogSymlink() names pod, namespace, container and instance', () => {
  const link = containerLogSymlink(createPod(), 'main', 'c0ffee')
  assert.equal(link, '/var/log/containers/web_shop_main-c0ffee.log')
})

test('containerLogSymlink() cuts long names to 255 bytes with the ending', () => {
  const name = 'n'.repeat(253)
  const link = containerLogSymlink(createPod({ metadata: { name } }), 'main', 'c0ffee')
  assert.equal(link, `/var/log/containers/${name.slice(0, 251)}.log`)
  assert.equal(link.slice('/var/log/containers/'.length).length, 255)
})
