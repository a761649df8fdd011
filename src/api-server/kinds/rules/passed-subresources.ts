import type { ExpectedType, SubresourcePath } from '../resource.ts'

const ALL_METHODS = ['create', 'delete', 'get', 'patch', 'update']

/** What only the kubelet of a pod, or the pod itself, can answer. */
export const podStreams: readonly SubresourcePath[] = [
  passedOn('attach', ['create', 'get'], 'PodAttachOptions'),
  passedOn('exec', ['create', 'get'], 'PodExecOptions'),
  { name: 'log', verbs: ['get'], isPassedOn: true },
  passedOn('portforward', ['create', 'get'], 'PodPortForwardOptions'),
  passedOn('proxy', ALL_METHODS, 'PodProxyOptions'),
]

/** The ports of a node. */
export const nodeProxy: SubresourcePath = passedOn('proxy', ALL_METHODS, 'NodeProxyOptions')

export const TOKEN_REQUEST: ExpectedType<'authentication.TokenRequest'> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  typeName: 'authentication.TokenRequest',
}

/** A token of a service account; the guard in front of the verbs issues it, since it knows users. */
export const accountToken: SubresourcePath = {
  name: 'token',
  verbs: ['create'],
  kind: TOKEN_REQUEST,
  isPassedOn: true,
}

function passedOn(name: string, verbs: readonly string[], kind: string): SubresourcePath {
  return { name, verbs, kind: { group: '', version: 'v1', kind, typeName: kind }, isPassedOn: true }
}
