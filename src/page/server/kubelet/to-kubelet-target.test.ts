import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toKubeletTarget } from './to-kubelet-target.ts'

test('toKubeletTarget() has the place of logs, commands and ports at the port of a kubelet, and of nothing else', () => {
  const pod = '/api/v1/namespaces/default/pods/web'
  assert.equal(
    toKubeletTarget(`${pod}/log?container=main&follow=true&tailLines=20`),
    '/containerLogs/default/web/main?follow=true&tailLines=20',
  )
  assert.equal(toKubeletTarget(`${pod}/log?container=main`), '/containerLogs/default/web/main')
  assert.equal(
    toKubeletTarget(
      `${pod}/exec?container=main&stdin=true&stdout=true&stderr=false&tty=true&command=ls&command=%2Fa+b`,
    ),
    '/exec/default/web/main?input=1&output=1&tty=1&command=ls&command=%2Fa+b',
  )
  assert.equal(toKubeletTarget(`${pod}/portforward`), '/portForward/default/web')
  for (const other of [pod, '/api/v1/pods', `${pod}/attach`, '/run/default/web/main?cmd=a', `${pod}/exec/../../x`])
    assert.equal(toKubeletTarget(other), undefined, other)
})
