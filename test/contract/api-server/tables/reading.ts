import { each, get, post, remove, watch } from '../contract-case.ts'
import type { ContractStep, ContractTable } from '../contract-case.ts'
import { CONFIG_MAPS, configMap, core, EVENTS, NAMESPACED, NODES, pod, PODS, SECRETS, SERVICES } from './objects.ts'

const NAMES = (body: unknown) => {
  const { items, reason, code, message, details } = body as {
    readonly items?: readonly { readonly metadata: { readonly name: string } }[]
    readonly reason?: string
    readonly code?: number
    readonly message?: string
    readonly details?: unknown
  }
  return items === undefined ? { reason, code, message, details } : items.map(({ metadata }) => metadata.name)
}
const LIST_META = (body: unknown) => {
  const { metadata, items } = body as {
    readonly metadata?: object
    readonly items?: readonly { readonly metadata: { readonly name: string } }[]
  }
  return { metadata, items: items?.map((item) => item.metadata.name), status: items === undefined ? body : undefined }
}

const colours = [
  ['apple', { colour: 'red', size: '1' }],
  ['banana', { colour: 'yellow', size: '2' }],
  ['cherry', { colour: 'red', size: '3', stone: '' }],
  ['plain', {}],
] as const
const fill: readonly ContractStep[] = colours.map(([name, labels]) =>
  post(CONFIG_MAPS, configMap(name, { a: '1' }, { labels }), { shows: 'code' }),
)

const bySelector = (selector: string) =>
  each(`labels: ${selector}`, get(`${CONFIG_MAPS}?labelSelector=${encodeURIComponent(selector)}`, { shows: NAMES }))
const byField = (name: string, path: string, selector: string) =>
  each(`fields of ${name}: ${selector}`, get(`${path}?fieldSelector=${encodeURIComponent(selector)}`, { shows: NAMES }))

export const selectors: ContractTable = {
  name: 'selectors',
  cases: [
    each(
      'what is selected from',
      ...fill,
      post(PODS, pod('here', { nodeName: 'node-1', restartPolicy: 'Never', hostNetwork: true }), { shows: 'code' }),
      post(PODS, pod('nowhere'), { shows: 'code' }),
      post(SECRETS, core('Secret', 'typed', { type: 'example.com/x' }), { shows: 'code' }),
      post(SERVICES, core('Service', 'headless', { spec: { clusterIP: 'None' } }), { shows: 'code' }),
      post(
        EVENTS,
        core('Event', 'happened', {
          involvedObject: { kind: 'Pod', namespace: '$(ns)', name: 'here', uid: 'u-1' },
          reason: 'Went',
          type: 'Warning',
          source: { component: 'test' },
        }),
        { shows: 'code' },
      ),
    ),
    ...[
      'colour=red',
      'colour==red',
      'colour!=red',
      'colour in (red, yellow)',
      'colour notin (red)',
      'colour',
      '!colour',
      'stone=',
      'size>1',
      'size<3',
      'colour=red,size>1',
      'colour in (red),!stone',
      'colour,',
      ',',
      '=',
      'colour=re d',
      'a b',
      'in (x)',
      'colour in',
      'colour in ()',
      'colour notin ()',
      'x/y/z',
      'colour=,',
      '!colour,size',
      'size>x',
      `${'k'.repeat(64)}=x`,
    ].map(bySelector),
    ...[
      'metadata.name=apple',
      'metadata.name!=apple',
      'metadata.namespace=$(ns)',
      'metadata.namespace=other',
      'metadata.name=apple,metadata.name=banana',
      'data.a=1',
      'metadata.labels=x',
      'metadata.name',
      '=x',
      'metadata.name=a=b',
      'metadata.name==apple',
      '',
    ].map((selector) => byField('configmaps', CONFIG_MAPS, selector)),
    ...[
      'spec.nodeName=node-1',
      'spec.nodeName=',
      'spec.nodeName!=node-1',
      'spec.restartPolicy=Never',
      'spec.schedulerName=nobody',
      'spec.serviceAccountName=default',
      'spec.hostNetwork=true',
      'status.phase=Pending',
      'status.phase!=Pending',
      'status.podIP=',
      'status.podIPs=',
      'status.nominatedNodeName=',
      'spec.containers=x',
      'status.qosClass=x',
    ].map((selector) => byField('pods', PODS, selector)),
    ...['type=example.com/x', 'type=Opaque', 'data=x'].map((selector) => byField('secrets', SECRETS, selector)),
    ...['spec.clusterIP=None', 'spec.type=ClusterIP', 'spec.ports=x'].map((selector) =>
      byField('services', SERVICES, selector),
    ),
    ...[
      'involvedObject.name=here',
      'involvedObject.uid=u-1',
      'involvedObject.kind=Pod',
      'reason=Went',
      'type=Warning',
      'source=test',
      'reportingComponent=x',
      'message=x',
    ].map((selector) => byField('events', EVENTS, selector)),
    ...['regarding.name=here', 'reason=Went', 'involvedObject.name=here', 'reportingController=x'].map((selector) =>
      byField('new events', '/apis/events.k8s.io/v1/namespaces/$(ns)/events', selector),
    ),
    ...['status.phase=Active', 'status.phase=x', 'spec.x=y'].map((selector) =>
      byField('namespaces', '/api/v1/namespaces', `metadata.name=$(ns),${selector}`),
    ),
    ...['spec.unschedulable=false', 'status.x=y'].map((selector) => byField('nodes', NODES, selector)),
    ...['spec.signerName=x', 'spec.x=y'].map((selector) =>
      byField('certificate requests', '/apis/certificates.k8s.io/v1/certificatesigningrequests', selector),
    ),
    ...['metadata.name=x', 'spec.holderIdentity=y'].map((selector) =>
      byField('leases', '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases', selector),
    ),
    ...['spec.driver=x', 'spec.nodeName=x', 'spec.pool=x'].map((selector) =>
      byField('slices', '/apis/resource.k8s.io/v1/resourceslices', selector),
    ),
    each(
      'a selector of a deletion',
      remove(`${CONFIG_MAPS}?labelSelector=stone`, undefined, { shows: LIST_META }),
      get(`${CONFIG_MAPS}?labelSelector=colour`, { shows: NAMES }),
    ),
    each(
      'a watch of one object by its name',
      watch(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Dapple&timeoutSeconds=1`, 1),
    ),
  ],
}

export const lists: ContractTable = {
  name: 'lists',
  cases: [
    each('what is listed', ...fill, get(`${CONFIG_MAPS}?labelSelector=colour`, { keep: 'list', shows: LIST_META })),
    each(
      'pages',
      get(`${CONFIG_MAPS}?limit=2`, { keep: 'one', shows: LIST_META }),
      get(`${CONFIG_MAPS}?limit=2&continue=$(one.metadata.continue)`, { keep: 'two', shows: LIST_META }),
      get(`${CONFIG_MAPS}?limit=2&continue=$(two.metadata.continue)`, { shows: LIST_META }),
    ),
    each(
      'pages with a selector',
      get(`${CONFIG_MAPS}?limit=1&labelSelector=colour`, { keep: 'one', shows: LIST_META }),
      get(`${CONFIG_MAPS}?limit=9&labelSelector=colour&continue=$(one.metadata.continue)`, { shows: LIST_META }),
    ),
    each('a page token that is none', get(`${CONFIG_MAPS}?limit=1&continue=nonsense`, { shows: 'code' })),
    each(
      'a page token with a version',
      get(`${CONFIG_MAPS}?limit=1`, { keep: 'one', shows: 'code' }),
      get(`${CONFIG_MAPS}?limit=1&continue=$(one.metadata.continue)&resourceVersion=1`),
    ),
    each('a limit that is none', get(`${CONFIG_MAPS}?limit=x`)),
    each('a limit below zero', get(`${CONFIG_MAPS}?limit=-1`, { shows: LIST_META })),
    each('a limit of zero', get(`${CONFIG_MAPS}?limit=0`, { shows: LIST_META })),
    each('any version', get(`${CONFIG_MAPS}?resourceVersion=0`, { shows: ['kind'] })),
    each(
      'a version that was',
      post(CONFIG_MAPS, configMap('date', {}), { keep: 'date', shows: 'code' }),
      get(`${CONFIG_MAPS}?resourceVersion=$(date.metadata.resourceVersion)`, { shows: ['kind'] }),
    ),
    each(
      'exactly a version',
      post(CONFIG_MAPS, configMap('elder', {}), { keep: 'elder', shows: 'code' }),
      remove(`${CONFIG_MAPS}/elder`, undefined, { shows: 'code' }),
      get(
        `${CONFIG_MAPS}?resourceVersion=$(elder.metadata.resourceVersion)&resourceVersionMatch=Exact&labelSelector=!colour`,
        { shows: NAMES },
      ),
    ),
    each('exactly no version', get(`${CONFIG_MAPS}?resourceVersionMatch=Exact`)),
    each('exactly version zero', get(`${CONFIG_MAPS}?resourceVersion=0&resourceVersionMatch=Exact`)),
    each('a match that is none', get(`${CONFIG_MAPS}?resourceVersion=1&resourceVersionMatch=Maybe`)),
    each('not older than no version', get(`${CONFIG_MAPS}?resourceVersionMatch=NotOlderThan`)),
    each('a version that is no number', get(`${CONFIG_MAPS}?resourceVersion=x`)),
    each(
      'a version to come of one object',
      get(`${CONFIG_MAPS}/apple?resourceVersion=999999999999999`, { shows: ['reason', 'details.causes'] }),
    ),
    each(
      'a match for one object',
      get(`${CONFIG_MAPS}/apple?resourceVersion=1&resourceVersionMatch=Exact`, { shows: 'code' }),
    ),
    each('an empty list', get(SERVICES)),
    each('a list of all namespaces', get('/api/v1/configmaps?labelSelector=colour', { shows: ['kind', 'apiVersion'] })),
    each('a list of a namespace that is not there', get('/api/v1/namespaces/missing/configmaps')),
    each(
      'a list as a list of names',
      get(CONFIG_MAPS, {
        headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
        shows: (body) => ({
          ...(body as object),
          items: (body as { items: { metadata: { name: string } }[] }).items.filter(
            ({ metadata }) => metadata.name === 'apple',
          ),
        }),
      }),
    ),
    each(
      'an object as a name',
      get(`${CONFIG_MAPS}/apple`, {
        headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
      }),
    ),
    each(
      'a watch as names',
      watch(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Dapple&timeoutSeconds=1`, 1, {
        headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
      }),
    ),
    each(
      'a form that is none',
      get(`${CONFIG_MAPS}/apple`, { headers: { accept: 'application/json;as=Poem;g=meta.k8s.io;v=v1' } }),
    ),
    each('a type that is none', get(`${CONFIG_MAPS}/apple`, { headers: { accept: 'text/html' } })),
    each('any type', get(`${CONFIG_MAPS}/apple`, { headers: { accept: '*/*' } })),
    each('YAML', get(`${CONFIG_MAPS}/apple`, { headers: { accept: 'application/yaml' }, shows: () => '' })),
    each('printed prettily', get(`${CONFIG_MAPS}/apple?pretty=true`, { shows: ['data'] })),
    each('what is not there', get(`${CONFIG_MAPS}/missing`)),
    each('a name that can be none', get(`${CONFIG_MAPS}/A_b`)),
    each('a kind that is not there', get(`${NAMESPACED}/colours`)),
    each('a group that is not there', get('/apis/example.com/v1/colours')),
    each('a version that is not there', get('/api/v2/pods')),
    each('a namespaced object without a namespace', get('/api/v1/configmaps/apple')),
    each('a cluster object with a namespace', get(`${NAMESPACED}/nodes`)),
    each('an unknown subresource', get(`${CONFIG_MAPS}/apple/status`)),
  ],
}

interface Seen {
  readonly type: string
  readonly object: {
    readonly kind?: string
    readonly code?: number
    readonly reason?: string
    readonly message?: string
    readonly metadata?: { readonly name?: string; readonly annotations?: object }
  }
}

/** Of each event only what it is and of what. */
const SEEN = (body: unknown) =>
  Array.isArray(body)
    ? (body as readonly Seen[]).map(({ type, object: { kind, code, reason, message, metadata } }) => {
        return { type, kind, code, reason, message, name: metadata?.name, annotations: metadata?.annotations }
      })
    : body

/** Of a table its rows; the descriptions of columns are upstream's sentences. */
const ROWS = (body: unknown) =>
  (
    body as readonly {
      readonly type: string
      readonly object: { readonly kind: string; readonly rows?: readonly { readonly cells: unknown }[] }
    }[]
  ).map(({ type, object: { kind, rows } }) => ({ type, kind, cells: rows?.map(({ cells }) => cells) }))

export const watches: ContractTable = {
  name: 'watches',
  cases: [
    each(
      'what there is comes first',
      post(CONFIG_MAPS, configMap('one', {}, { labels: { w: '1' } }), { shows: 'code' }),
      watch(`${CONFIG_MAPS}?labelSelector=w%3D1&timeoutSeconds=2`, 1),
    ),
    each(
      'from a version on, all that happens',
      post(CONFIG_MAPS, configMap('two', { a: '1' }, { labels: { w: '2' } }), { keep: 'two', shows: 'code' }),
      { verb: 'PATCH:merge', path: `${CONFIG_MAPS}/two`, body: { data: { a: '2' } }, shows: 'code' },
      remove(`${CONFIG_MAPS}/two`, undefined, { shows: 'code' }),
      watch(`${CONFIG_MAPS}?labelSelector=w%3D2&timeoutSeconds=2&resourceVersion=$(two.metadata.resourceVersion)`, 2),
    ),
    each(
      'from any version on',
      watch(`${CONFIG_MAPS}?labelSelector=w%3D1&timeoutSeconds=2&resourceVersion=0`, 1, { shows: SEEN }),
    ),
    each(
      'what leaves a selector is deleted, what comes is added',
      post(CONFIG_MAPS, configMap('three', {}, { labels: { w: '3' } }), { keep: 'three', shows: 'code' }),
      {
        verb: 'PATCH:merge',
        path: `${CONFIG_MAPS}/three`,
        body: { metadata: { labels: { w: 'other' } } },
        shows: 'code',
      },
      { verb: 'PATCH:merge', path: `${CONFIG_MAPS}/three`, body: { metadata: { labels: { w: '3' } } }, shows: 'code' },
      watch(`${CONFIG_MAPS}?labelSelector=w%3D3&timeoutSeconds=2&resourceVersion=$(three.metadata.resourceVersion)`, 2),
    ),
    each(
      'the beginning as a list, with a bookmark at its end',
      watch(
        `${CONFIG_MAPS}?labelSelector=w%3D1&timeoutSeconds=2&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
        2,
        { shows: SEEN },
      ),
    ),
    each(
      'the beginning as a list of nothing',
      watch(
        `${CONFIG_MAPS}?labelSelector=w%3Dnone&timeoutSeconds=2&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
        1,
      ),
    ),
    each(
      'the beginning as a list, without a match',
      watch(`${CONFIG_MAPS}?sendInitialEvents=true&allowWatchBookmarks=true`, 1),
    ),
    each('the beginning as a list, of no watch', get(`${CONFIG_MAPS}?sendInitialEvents=true`)),
    each('a match without a list', watch(`${CONFIG_MAPS}?resourceVersionMatch=NotOlderThan&timeoutSeconds=1`, 1)),
    each(
      'no beginning',
      watch(`${CONFIG_MAPS}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`, 1, {
        shows: SEEN,
      }),
    ),
    each(
      'a match that is none',
      watch(`${CONFIG_MAPS}?sendInitialEvents=true&resourceVersionMatch=Exact&timeoutSeconds=1`, 1),
    ),
    each('a version that is no number', watch(`${CONFIG_MAPS}?resourceVersion=x`, 1)),
    each('a time that is none', watch(`${CONFIG_MAPS}?timeoutSeconds=x`, 1)),
    each('ends after its time', watch(`${CONFIG_MAPS}?labelSelector=w%3Dnone&timeoutSeconds=1`, undefined)),
    each(
      'by the old path',
      get('/api/v1/watch/namespaces/$(ns)/configmaps?timeoutSeconds=1&labelSelector=w%3D1', { shows: 'code' }),
    ),
    each('a page of it', watch(`${CONFIG_MAPS}?limit=1&continue=x&timeoutSeconds=1`, 1, { shows: 'code' })),
    each('a bad selector', watch(`${CONFIG_MAPS}?fieldSelector=data.x%3Dy`, 1)),
    each('what cannot be watched', watch('/apis/authentication.k8s.io/v1/tokenreviews', 1)),
    each(
      'as a table',
      watch(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Done&timeoutSeconds=2`, 1, {
        headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
        shows: ROWS,
      }),
    ),
    each(
      'of one namespace, by its name',
      watch('/api/v1/namespaces?fieldSelector=metadata.name%3D$(ns)&timeoutSeconds=2', 1, { shows: SEEN }),
    ),
  ],
}
