import type { Subresource } from '../resource.ts'

const ALL_METHODS = ['create', 'delete', 'get', 'patch', 'update']

/** What only the kubelet of a pod, or the pod itself, can answer. */
export const podStreams: readonly Subresource[] = [
  passedOn('attach', ['create', 'get'], 'PodAttachOptions'),
  passedOn('exec', ['create', 'get'], 'PodExecOptions'),
  { name: 'log', verbs: ['get'], isPassedOn: true },
  passedOn('portforward', ['create', 'get'], 'PodPortForwardOptions'),
  passedOn('proxy', ALL_METHODS, 'PodProxyOptions'),
]

/** The ports of a node. */
export const nodeProxy: Subresource = passedOn('proxy', ALL_METHODS, 'NodeProxyOptions')

/** A token of a service account; who knows users makes it, before the request gets to the resources. */
export const accountToken: Subresource = {
  name: 'token',
  verbs: ['create'],
  kind: {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenRequest',
    typeName: 'authentication.TokenRequest',
  },
  isPassedOn: true,
}

function passedOn(name: string, verbs: readonly string[], kind: string): Subresource {
  return { name, verbs, kind: { group: '', version: 'v1', kind, typeName: kind }, isPassedOn: true }
}
