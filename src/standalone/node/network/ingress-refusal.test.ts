import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findIngressRefusal } from './ingress-refusal.ts'

describe('findIngressRefusal() says why Ingresses are not taken', () => {
  const none = { http: undefined, https: undefined }
  for (const [name, asked, expected] of [
    ['they are where there is a port', { ingressPorts: { http: 80, https: undefined }, without: [] }, undefined],
    ['also for HTTPS alone', { ingressPorts: { http: undefined, https: 443 }, without: [] }, undefined],
    [
      'without a port',
      { ingressPorts: none, without: [] },
      /no port for it: start it with "deckhand up --ingress-http-port 80"/,
    ],
    ['when they are switched off', { ingressPorts: none, without: ['ingress'] }, /^this node runs without ingress/],
    ['without services', { ingressPorts: { http: 80, https: 443 }, without: ['services'] }, /without services/],
  ] as const)
    test(name, () => {
      const refusal = findIngressRefusal(asked)
      if (expected === undefined) assert.equal(refusal, undefined)
      else assert.match(refusal ?? '', expected)
    })
})
