import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CLIENT_SIGNER,
  computeRequestFault,
  computeSigningDecision,
  SERVING_SIGNER,
} from './compute-signing-decision.ts'
import type { RequestedCertificate, SigningQuestion } from './compute-signing-decision.ts'

const requested: RequestedCertificate = {
  commonName: 'system:node:node-1',
  organizations: ['system:nodes'],
  dnsNames: [],
  addresses: [],
  otherNames: [],
}
const client: SigningQuestion = {
  signerName: CLIENT_SIGNER,
  usages: ['digital signature', 'client auth'],
  userName: 'system:node:node-1',
  groups: ['system:nodes', 'system:authenticated'],
  requested,
  nodeAddresses: ['192.0.2.1', 'node-1'],
  nodeName: 'node-1',
  hasCredential: false,
}
const serving: SigningQuestion = {
  ...client,
  signerName: SERVING_SIGNER,
  usages: ['digital signature', 'server auth'],
  requested: { ...requested, addresses: ['192.0.2.1'], dnsNames: ['node-1'] },
}
const bootstrap = { userName: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] }
const admin = { userName: 'kubernetes-admin', groups: ['system:masters'] }

const decisions: readonly (readonly [name: string, question: SigningQuestion, result: RegExp])[] = [
  ['a node gets its client certificate', client, /^approve Approved: .*client certificate/],
  ['a node to be gets its client certificate', { ...client, ...bootstrap, nodeAddresses: undefined }, /^approve/],
  [
    'a token becomes no node that is there: an administrator decides',
    { ...client, ...bootstrap },
    /^wait node "node-1" exists: a bootstrap token is only good for a new one/,
  ],
  [
    'nor one that has got its credential from the API, before it has registered',
    { ...client, ...bootstrap, nodeAddresses: undefined, hasCredential: true },
    /^wait node "node-1" exists/,
  ],
  ['a node that is there renews its client certificate itself', { ...client, hasCredential: true }, /^approve/],
  ['what an administrator asks for waits for one', { ...client, ...admin }, /^wait/],
  ['a node gets none of another node', { ...client, userName: 'system:node:node-2' }, /^deny .*another node/],
  [
    'a node to be gets none of another node',
    { ...client, ...bootstrap, nodeName: 'x' },
    /^deny .*only good for node "x"/,
  ],
  ['the name of a node without its group counts for nothing', { ...client, groups: ['other'] }, /^wait/],
  ['a request of a wrong form is denied', { ...client, usages: ['client auth'] }, /^deny .*usages/],
  ['a node gets a serving certificate for its addresses', serving, /^approve Approved: .*serving certificate/],
  ['a node to be gets no serving certificate', { ...serving, ...bootstrap }, /^deny .*not good for serving/],
  ['a serving certificate waits until there is the node', { ...serving, nodeAddresses: undefined }, /^wait/],
  ['likewise until it has reported its addresses', { ...serving, nodeAddresses: [] }, /^wait/],
  [
    'an address of others is denied',
    { ...serving, nodeAddresses: ['node-1'] },
    /^deny .*"192.0.2.1" is not an address/,
  ],
  [
    'a name of others is denied',
    { ...serving, requested: { ...serving.requested, dnsNames: ['node-2'] } },
    /^deny .*"node-2" is not an address/,
  ],
  [
    'its name alone is enough, for a node that has no address',
    { ...serving, requested: { ...requested, dnsNames: ['node-1'] }, nodeAddresses: [] },
    /^approve/,
  ],
]

describe('computeSigningDecision()', () => {
  for (const [name, question, result] of decisions) {
    test(name, () => {
      const decision = computeSigningDecision(question)
      assert.match(`${decision.kind} ${decision.message ?? ''}`, result)
    })
  }
})

const faults: readonly (readonly [name: string, question: SigningQuestion, fault: RegExp | undefined])[] = [
  ['a client of the usual form', client, undefined],
  ['a client with an RSA key', { ...client, usages: [...client.usages, 'key encipherment'] }, undefined],
  ['a server of the usual form', serving, undefined],
  ['a server with an address alone', { ...serving, requested: { ...requested, addresses: ['::1'] } }, undefined],
  ['a server with a name alone', { ...serving, requested: { ...requested, dnsNames: ['a'] } }, undefined],
  ['no organization', { ...client, requested: { ...requested, organizations: [] } }, /organization/],
  [
    'another organization',
    { ...client, requested: { ...requested, organizations: ['system:masters'] } },
    /organization/,
  ],
  [
    'one organization too many',
    { ...client, requested: { ...requested, organizations: ['system:nodes', 'system:masters'] } },
    /organization/,
  ],
  ['no common name, or several', { ...client, requested: { ...requested, commonName: undefined } }, /common name/],
  ['the name of another user', { ...client, requested: { ...requested, commonName: 'admin' } }, /common name/],
  ['no name of a node', { ...client, requested: { ...requested, commonName: 'system:node:' } }, /common name/],
  [
    'a name that no node can have',
    { ...client, requested: { ...requested, commonName: 'system:node:a\nb' } },
    /common name/,
  ],
  ['a usage too many', { ...client, usages: [...client.usages, 'cert sign'] }, /usages/],
  ['both usages', { ...client, usages: [...client.usages, 'server auth'] }, /usages/],
  ['the usages of the other signer', { ...client, usages: serving.usages }, /usages/],
  ['no usages', { ...serving, usages: [] }, /usages/],
  ['a client with addresses', { ...client, requested: serving.requested }, /no alternative names/],
  ['a server with none', { ...serving, requested }, /at least one/],
  [
    'an e-mail address',
    { ...serving, requested: { ...serving.requested, otherNames: ['a@b'] } },
    /no other alternative names/,
  ],
]

describe('computeRequestFault()', () => {
  for (const [name, question, fault] of faults) {
    test(name, () => {
      const found = computeRequestFault(question)
      if (fault === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', fault)
    })
  }
})
