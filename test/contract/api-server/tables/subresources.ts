import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { ACCOUNTS, CONFIG_MAPS, configMap, container, core, NODES, of, pod, PODS, podOf } from './objects.ts'

const binding = (name: string, target: object) => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name }, target })
const eviction = (name: string, fields: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...fields,
})
const tokenRequest = (spec: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec })
const sized = (cpu: string, memory = '10Mi') => ({ resources: { requests: { cpu, memory }, limits: { cpu, memory } } })
const resizing = (fields: object) => ({ spec: { containers: [{ name: 'main', ...fields }] } })
const SPEC = ['spec.containers.*.resources', 'metadata.generation', 'status.qosClass', 'reason', 'code', 'details']
const review = (kind: string, spec: object) => of('authorization.k8s.io/v1', kind, '', { spec })
const AUTHORIZATION = '/apis/authorization.k8s.io/v1'

export const podSubresources: ContractTable = {
  name: 'pod-subresources',
  cases: [
    each(
      'binding',
      post(PODS, pod('b'), { shows: 'code' }),
      post(`${PODS}/b/binding`, binding('b', { kind: 'Node', name: 'node-1' })),
      get(`${PODS}/b`, { shows: ['spec.nodeName', 'status.conditions', 'metadata.generation'] }),
    ),
    each('binding twice', post(`${PODS}/b/binding`, binding('b', { kind: 'Node', name: 'node-2' }))),
    each('binding to nothing', post(PODS, pod('c'), { shows: 'code' }), post(`${PODS}/c/binding`, binding('c', {}))),
    each('binding to another kind', post(`${PODS}/c/binding`, binding('c', { kind: 'Pod', name: 'x' }))),
    each(
      'binding of a pod that is not there',
      post(`${PODS}/missing/binding`, binding('missing', { kind: 'Node', name: 'x' })),
    ),
    each(
      'binding by the old path',
      post('/api/v1/namespaces/$(ns)/bindings', binding('c', { kind: 'Node', name: 'node-1' })),
      get(`${PODS}/c`, { shows: ['spec.nodeName'] }),
    ),
    each(
      'binding of a pod with gates',
      post(PODS, pod('gated', { schedulingGates: [{ name: 'example.com/g' }] }), { shows: 'code' }),
      post(`${PODS}/gated/binding`, binding('gated', { kind: 'Node', name: 'node-1' })),
    ),
    each(
      'gates that are removed and added',
      patch('merge', `${PODS}/gated`, {
        spec: { schedulingGates: [{ name: 'example.com/g' }, { name: 'example.com/h' }] },
      }),
      patch(
        'merge',
        `${PODS}/gated`,
        { spec: { schedulingGates: null } },
        { shows: ['spec.schedulingGates', 'status.conditions.*.type', 'code'] },
      ),
    ),
    each('binding that is read', get(`${PODS}/b/binding`)),
    each(
      'eviction',
      post(PODS, pod('e', { nodeName: 'node-1' }), { shows: 'code' }),
      post(`${PODS}/e/eviction`, eviction('e')),
      get(`${PODS}/e`, {
        shows: ['metadata.deletionGracePeriodSeconds', 'status.conditions.*.type', 'status.conditions.*.reason'],
      }),
    ),
    each(
      'eviction with a grace',
      post(PODS, pod('f', { nodeName: 'node-1' }), { shows: 'code' }),
      post(`${PODS}/f/eviction`, eviction('f', { deleteOptions: { gracePeriodSeconds: 0 } })),
      get(`${PODS}/f`, { shows: 'code' }),
    ),
    each('eviction of another name', post(`${PODS}/e/eviction`, eviction('x'))),
    each('eviction of what is not there', post(`${PODS}/missing/eviction`, eviction('missing'))),
    each(
      'eviction with another uid',
      post(PODS, pod('g', { nodeName: 'node-1' }), { shows: 'code' }),
      post(
        `${PODS}/g/eviction`,
        eviction('g', { deleteOptions: { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } } }),
      ),
    ),
    each(
      'eviction of a pod without a node',
      post(PODS, pod('h'), { shows: 'code' }),
      post(`${PODS}/h/eviction`, eviction('h')),
      get(`${PODS}/h`, { shows: 'code' }),
    ),
    each(
      'eviction as a trial',
      post(`${PODS}/g/eviction?dryRun=All`, eviction('g')),
      get(`${PODS}/g`, { shows: ['metadata.deletionTimestamp'] }),
    ),
    each(
      'status: read and patched',
      post(PODS, pod('s', { nodeName: 'node-1' }), { shows: 'code' }),
      get(`${PODS}/s/status`, { shows: ['kind', 'status.phase'] }),
      patch(
        'strategic',
        `${PODS}/s/status`,
        { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
        { shows: ['status', 'metadata.generation'] },
      ),
      patch(
        'strategic',
        `${PODS}/s/status`,
        { status: { conditions: [{ type: 'Other', status: 'False' }] } },
        { shows: ['status.conditions'] },
      ),
    ),
    each(
      'status: the spec stays',
      patch(
        'merge',
        `${PODS}/s/status`,
        { spec: { nodeName: 'x' }, metadata: { labels: { a: 'b' } }, status: { message: 'm' } },
        { shows: ['spec.nodeName', 'metadata.labels', 'status.message', 'code'] },
      ),
    ),
    each(
      'status: replaced',
      get(`${PODS}/s`, { keep: 's', shows: 'code' }),
      put(
        `${PODS}/s/status`,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 's', resourceVersion: '$(s.metadata.resourceVersion)' },
          spec: { containers: [container()] },
          status: { phase: 'Failed', reason: 'R' },
        },
        { shows: ['status', 'code', 'reason', 'spec.nodeName'] },
      ),
    ),
    each(
      'status: with an old version',
      put(`${PODS}/s/status`, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 's', resourceVersion: '1' },
        spec: { containers: [container()] },
        status: {},
      }),
    ),
    each('status: deleted', remove(`${PODS}/s/status`)),
    each('status: of what is not there', patch('merge', `${PODS}/missing/status`, {})),
    each(
      'status: addresses',
      patch('merge', `${PODS}/s/status`, { status: { podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }, { ip: 'x' }] } }),
      patch(
        'merge',
        `${PODS}/s/status`,
        { status: { podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }] } },
        { shows: ['status.podIP', 'status.podIPs', 'code'] },
      ),
      patch('merge', `${PODS}/s/status`, { status: { hostIP: '2.2.2.2', hostIPs: [{ ip: '2.2.2.3' }] } }),
    ),
    each(
      'status: a container that ended runs again',
      post(PODS, pod('n', { nodeName: 'node-1', restartPolicy: 'Never' }), { shows: 'code' }),
      patch(
        'merge',
        `${PODS}/n/status`,
        {
          status: {
            containerStatuses: [
              {
                name: 'main',
                image: 'x',
                imageID: '',
                ready: false,
                restartCount: 0,
                state: { terminated: { exitCode: 0 } },
              },
            ],
          },
        },
        { shows: 'code' },
      ),
      patch('merge', `${PODS}/n/status`, {
        status: {
          containerStatuses: [
            { name: 'main', image: 'x', imageID: '', ready: false, restartCount: 0, state: { running: {} } },
          ],
        },
      }),
    ),
    each(
      'ephemeral containers',
      patch(
        'strategic',
        `${PODS}/s/ephemeralcontainers`,
        { spec: { ephemeralContainers: [{ name: 'debug', image: 'x' }] } },
        { shows: ['spec.ephemeralContainers', 'metadata.generation', 'code', 'reason'] },
      ),
    ),
    each(
      'ephemeral containers that change',
      patch('strategic', `${PODS}/s/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: 'debug', image: 'y' }] },
      }),
      patch('merge', `${PODS}/s/ephemeralcontainers`, { spec: { ephemeralContainers: [] } }),
    ),
    each(
      'ephemeral containers that break rules',
      patch('strategic', `${PODS}/s/ephemeralcontainers`, {
        spec: {
          ephemeralContainers: [
            {
              name: 'other',
              image: 'y',
              ports: [{ containerPort: 1 }],
              livenessProbe: { tcpSocket: { port: 1 } },
              resources: { limits: { cpu: '1' } },
            },
          ],
        },
      }),
      patch('strategic', `${PODS}/s/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: 'main', image: 'y' }] },
      }),
      patch('strategic', `${PODS}/s/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: 'third', image: 'y', targetContainerName: 'missing' }] },
      }),
    ),
    each(
      'ephemeral containers that are read',
      get(`${PODS}/s/ephemeralcontainers`, { shows: ['kind', 'spec.ephemeralContainers'] }),
    ),
    each(
      'ephemeral containers of the pod itself',
      patch('strategic', `${PODS}/s`, { spec: { ephemeralContainers: [{ name: 'late', image: 'y' }] } }),
    ),
    each(
      'resize',
      post(PODS, podOf('r', sized('100m')), { shows: SPEC }),
      patch('strategic', `${PODS}/r/resize`, resizing(sized('200m', '20Mi')), { shows: SPEC }),
      get(`${PODS}/r/resize`, { shows: SPEC }),
    ),
    each(
      'resize: another class',
      patch('strategic', `${PODS}/r/resize`, resizing({ resources: { requests: { cpu: '10m' } } })),
    ),
    each(
      'resize: memory without a limit any more',
      patch('merge', `${PODS}/r/resize`, { spec: { containers: [container({ resources: {} })] } }, { shows: 'code' }),
    ),
    each(
      'resize: something else',
      patch('strategic', `${PODS}/r/resize`, resizing({ image: 'registry.test/new:1' })),
      patch('strategic', `${PODS}/r/resize`, resizing({ resources: { limits: { 'ephemeral-storage': '1Gi' } } })),
    ),
    each('resize: of the pod itself', patch('strategic', `${PODS}/r`, resizing(sized('300m')))),
    each(
      'resize: of a container that is not there',
      patch(
        'strategic',
        `${PODS}/r/resize`,
        { spec: { containers: [{ name: 'other', ...sized('1') }] } },
        { shows: SPEC },
      ),
    ),
    each(
      'resize: requests above limits',
      patch(
        'strategic',
        `${PODS}/r/resize`,
        resizing({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
        { shows: SPEC },
      ),
    ),
    each(
      'resize: a policy',
      patch(
        'strategic',
        `${PODS}/r/resize`,
        resizing({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
        { shows: SPEC },
      ),
    ),
    each(
      'resize: on a node',
      post(NODES, core('Node', 'contract-sized', { status: { allocatable: { cpu: '1', memory: '1Gi', pods: '9' } } }), {
        shows: 'code',
      }),
      post(PODS, podOf('on', sized('100m'), { nodeName: 'contract-sized' }), { shows: 'code' }),
      patch('strategic', `${PODS}/on/resize`, resizing(sized('1', '1Gi')), { shows: SPEC }),
      patch('strategic', `${PODS}/on/resize`, resizing(sized('1001m', '1Gi'))),
      patch('strategic', `${PODS}/on/resize`, resizing(sized('2', '1025Mi'))),
      remove(`${NODES}/contract-sized`, { shows: 'code' }),
      patch('strategic', `${PODS}/on/resize`, resizing(sized('500m'))),
    ),
    each('log of a pod without a node', post(PODS, pod('l'), { shows: 'code' }), get(`${PODS}/l/log`)),
    each('log of a container that is not there', get(`${PODS}/l/log?container=x`)),
    each(
      'log of a pod with two containers',
      post(PODS, pod('m', { nodeName: 'node-1', containers: [container(), container({ name: 'second' })] }), {
        shows: 'code',
      }),
      get(`${PODS}/m/log`, { shows: 'code' }),
    ),
    each(
      'log with bad options',
      get(`${PODS}/m/log?container=main&tailLines=-1`),
      get(`${PODS}/m/log?container=main&sinceSeconds=0`),
      get(`${PODS}/m/log?container=main&limitBytes=0`),
      get(`${PODS}/m/log?container=main&sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z`),
    ),
    each('log of what is not there', get(`${PODS}/missing/log`)),
    each('log as JSON only', get(`${PODS}/l/log`, { headers: { accept: 'image/png' }, shows: 'code' })),
    each(
      'a command in a pod without a node',
      post(`${PODS}/l/exec?command=x&stdout=true`, undefined, { shows: 'code' }),
    ),
    each('a command that is none', post(`${PODS}/m/exec?container=main`, undefined, { shows: 'code' })),
  ],
}

export const reviews: ContractTable = {
  name: 'reviews',
  cases: [
    each('token', post(`${ACCOUNTS}/default/token`, tokenRequest({}))),
    each(
      'token for an audience',
      post(`${ACCOUNTS}/default/token`, tokenRequest({ audiences: ['a', 'b'], expirationSeconds: 700 })),
    ),
    each('token that lasts too short', post(`${ACCOUNTS}/default/token`, tokenRequest({ expirationSeconds: 60 }))),
    each(
      'token that lasts too long',
      post(`${ACCOUNTS}/default/token`, tokenRequest({ expirationSeconds: 5_000_000_000 })),
    ),
    each('token of an account that is not there', post(`${ACCOUNTS}/missing/token`, tokenRequest({}))),
    each(
      'token of a pod',
      post(PODS, pod('p', { nodeName: 'node-1' }), { keep: 'p', shows: 'code' }),
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '$(p.metadata.uid)' } }),
      ),
    ),
    each(
      'token of a pod with another uid',
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '00000000-0000-0000-0000-000000000000' },
        }),
      ),
    ),
    each(
      'token of a pod that is not there',
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'missing' } }),
      ),
    ),
    each(
      'token of a pod with another account',
      post(ACCOUNTS, core('ServiceAccount', 'other'), { shows: 'code' }),
      post(`${ACCOUNTS}/other/token`, tokenRequest({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })),
    ),
    each(
      'token of a configmap',
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({ boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' } }),
      ),
    ),
    each(
      'token of a secret',
      post('/api/v1/namespaces/$(ns)/secrets', core('Secret', 's'), { shows: 'code' }),
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's' } }),
      ),
    ),
    each('token that is read', get(`${ACCOUNTS}/default/token`)),
    each(
      'review of a good token',
      post(`${ACCOUNTS}/default/token`, tokenRequest({}), { keep: 't', shows: 'code' }),
      post(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        of('authentication.k8s.io/v1', 'TokenReview', '', { spec: { token: '$(t.status.token)' } }),
        { shows: ['status.authenticated', 'status.audiences', 'status.user.username', 'status.user.groups'] },
      ),
    ),
    each(
      'review of a token for others',
      post(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        of('authentication.k8s.io/v1', 'TokenReview', '', { spec: { token: 'x.y.z', audiences: ['q'] } }),
        { shows: ['status.authenticated', 'kind'] },
      ),
    ),
    each(
      'review of no token',
      post(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        of('authentication.k8s.io/v1', 'TokenReview', '', { spec: {} }),
      ),
    ),
    each(
      'who am I',
      post(
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        of('authentication.k8s.io/v1', 'SelfSubjectReview', ''),
        { shows: ['kind', 'status.userInfo.username', 'status.userInfo.groups'] },
      ),
    ),
    each(
      'who am I, as a stranger',
      post(
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        of('authentication.k8s.io/v1', 'SelfSubjectReview', ''),
        { user: 'stranger', shows: ['kind', 'status.userInfo.username', 'status.userInfo.groups'] },
      ),
    ),
    each(
      'may I',
      post(
        `${AUTHORIZATION}/selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'x' } }),
        { shows: ['kind', 'spec', 'status.allowed'] },
      ),
    ),
    each(
      'may a stranger',
      post(
        `${AUTHORIZATION}/selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'x' } }),
        { user: 'stranger', shows: ['kind', 'status.allowed'] },
      ),
    ),
    each(
      'may another',
      post(
        `${AUTHORIZATION}/subjectaccessreviews`,
        review('SubjectAccessReview', {
          user: 'u',
          groups: ['system:masters'],
          resourceAttributes: { verb: 'delete', resource: 'nodes' },
        }),
        { shows: ['kind', 'status.allowed'] },
      ),
    ),
    each(
      'may nobody',
      post(
        `${AUTHORIZATION}/subjectaccessreviews`,
        review('SubjectAccessReview', { resourceAttributes: { verb: 'delete', resource: 'nodes' } }),
      ),
    ),
    each('may do what', post(`${AUTHORIZATION}/subjectaccessreviews`, review('SubjectAccessReview', { user: 'u' }))),
    each(
      'may do both',
      post(
        `${AUTHORIZATION}/subjectaccessreviews`,
        review('SubjectAccessReview', {
          user: 'u',
          resourceAttributes: { verb: 'get', resource: 'pods' },
          nonResourceAttributes: { verb: 'get', path: '/x' },
        }),
      ),
    ),
    each(
      'may in its namespace',
      post(
        `${AUTHORIZATION}/namespaces/$(ns)/localsubjectaccessreviews`,
        review('LocalSubjectAccessReview', {
          user: 'u',
          groups: ['system:masters'],
          resourceAttributes: { verb: 'get', resource: 'pods', namespace: '$(ns)' },
        }),
        { shows: ['kind', 'status.allowed'] },
      ),
    ),
    each(
      'may in a namespace that is not said',
      post(
        `${AUTHORIZATION}/namespaces/$(ns)/localsubjectaccessreviews`,
        review('LocalSubjectAccessReview', { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } }),
      ),
    ),
    each(
      'may a path in a namespace',
      post(
        `${AUTHORIZATION}/namespaces/$(ns)/localsubjectaccessreviews`,
        review('LocalSubjectAccessReview', { user: 'u', nonResourceAttributes: { verb: 'get', path: '/x' } }),
      ),
    ),
    each(
      'may in a namespace',
      post(
        `${AUTHORIZATION}/namespaces/$(ns)/localsubjectaccessreviews`,
        review('LocalSubjectAccessReview', {
          user: 'u',
          resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' },
        }),
        { shows: ['reason', 'code', 'details.causes'] },
      ),
    ),
    each(
      'a path',
      post(
        `${AUTHORIZATION}/selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', { nonResourceAttributes: { verb: 'get', path: '/healthz' } }),
        { shows: ['status.allowed'] },
      ),
    ),
    each('a review that is read', get(`${AUTHORIZATION}/selfsubjectaccessreviews`)),
    each(
      'a node asks what it may',
      post(
        `${AUTHORIZATION}/selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', {
          resourceAttributes: { verb: 'update', group: '', resource: 'nodes', subresource: 'status', name: 'node-1' },
        }),
        { user: 'node', shows: ['status.allowed'] },
      ),
    ),
  ],
}

/** Why a node may not is worded in other ways here. */
const REASONS = 'code'
const forNode = (name: string, spec: object = {}) =>
  pod(name, { nodeName: 'node-1', automountServiceAccountToken: false, ...spec })

/** What users without rights and nodes get to see. */
export const access: ContractTable = {
  name: 'access',
  cases: [
    each('a stranger lists', get(PODS, { user: 'stranger' })),
    each('a stranger reads', get(`${PODS}/x`, { user: 'stranger' })),
    each('a stranger writes', post(CONFIG_MAPS, configMap('a'), { user: 'stranger' })),
    each('a stranger deletes all', remove(CONFIG_MAPS, undefined, { user: 'stranger' })),
    each('a stranger watches the cluster', get('/api/v1/nodes?watch=true', { user: 'stranger' })),
    each('a stranger reads a subresource', get(`${PODS}/x/log`, { user: 'stranger' })),
    each(
      'a stranger of another group',
      get('/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/x', { user: 'stranger' }),
    ),
    each('a stranger reads a path', get('/metrics', { user: 'stranger', shows: ['reason', 'code', 'message'] })),
    each(
      'a stranger asks for the version',
      get('/version', { user: 'stranger', shows: ['major', 'minor', 'gitVersion'] }),
    ),
    each('a stranger asks for health', get('/healthz', { user: 'stranger' })),
    each('a stranger asks what there is', get('/api', { user: 'stranger', shows: ['kind', 'versions'] })),
    each('a stranger does as another', get(PODS, { user: 'stranger', headers: { 'impersonate-user': 'x' } })),
    each('an administrator does as another', get(PODS, { headers: { 'impersonate-user': 'x' } })),
    each('nobody lists', get(PODS, { user: 'anonymous', shows: 'code' })),
    each('a bad token', get(PODS, { user: 'anonymous', headers: { authorization: 'Bearer nonsense' } })),
    each(
      'a node reads itself',
      post(NODES, core('Node', 'node-1'), { user: 'node', shows: ['kind'] }),
      get(`${NODES}/node-1`, { user: 'node', shows: ['kind'] }),
    ),
    each('a node makes another', post(NODES, core('Node', 'node-2'), { user: 'node', shows: REASONS })),
    each(
      'a node changes another',
      post(NODES, core('Node', 'contract-third'), { shows: 'code' }),
      patch('merge', `${NODES}/contract-third/status`, { status: { phase: 'x' } }, { user: 'node', shows: REASONS }),
      remove(`${NODES}/contract-third`, undefined, { user: 'node', shows: REASONS }),
      remove(`${NODES}/contract-third`, undefined, { shows: 'code' }),
    ),
    each(
      'a node gives itself a label it may not',
      patch(
        'merge',
        `${NODES}/node-1`,
        { metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } },
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node gives itself a label it may',
      patch(
        'merge',
        `${NODES}/node-1`,
        { metadata: { labels: { 'kubernetes.io/hostname': 'x', mine: 'y' } } },
        { user: 'node', shows: ['metadata.labels'] },
      ),
    ),
    each(
      'a node gives itself a taint',
      patch(
        'merge',
        `${NODES}/node-1`,
        { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node reads a secret that it needs not',
      post('/api/v1/namespaces/$(ns)/secrets', core('Secret', 'far'), { shows: 'code' }),
      get('/api/v1/namespaces/$(ns)/secrets/far', { user: 'node', shows: REASONS }),
    ),
    each(
      'a node reads a secret of its pod',
      post('/api/v1/namespaces/$(ns)/secrets', core('Secret', 'near'), { shows: 'code' }),
      post(PODS, forNode('uses', { volumes: [{ name: 'v', secret: { secretName: 'near' } }] }), { shows: 'code' }),
      get('/api/v1/namespaces/$(ns)/secrets/near', { user: 'node', until: 200, shows: ['kind'] }),
    ),
    each('a node lists secrets', get('/api/v1/namespaces/$(ns)/secrets', { user: 'node', shows: REASONS })),
    each(
      'a node reads all pods',
      get('/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1', { user: 'node', shows: ['kind'] }),
    ),
    each(
      'a node writes the status of its pod',
      patch(
        'merge',
        `${PODS}/uses/status`,
        { status: { phase: 'Running' } },
        { user: 'node', shows: ['status.phase'] },
      ),
    ),
    each(
      'a node changes its pod',
      patch('merge', `${PODS}/uses`, { metadata: { labels: { a: 'b' } } }, { user: 'node', shows: REASONS }),
    ),
    each(
      'a node changes labels with the status',
      patch('merge', `${PODS}/uses/status`, { metadata: { labels: { a: 'b' } } }, { user: 'node', shows: REASONS }),
    ),
    each(
      'a node writes the status of a pod elsewhere',
      post(PODS, pod('elsewhere', { nodeName: 'node-7' }), { shows: 'code' }),
      patch('merge', `${PODS}/elsewhere/status`, { status: { phase: 'Running' } }, { user: 'node', shows: REASONS }),
    ),
    each('a node makes a pod', post(PODS, forNode('made'), { user: 'node', shows: REASONS })),
    each(
      'a node makes a mirror pod',
      post(
        PODS,
        core(
          'Pod',
          'mirror-node-1',
          { spec: { nodeName: 'node-1', containers: [container()] } },
          {
            annotations: { 'kubernetes.io/config.mirror': 'x' },
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'Node',
                name: 'node-1',
                uid: '00000000-0000-0000-0000-000000000000',
                controller: true,
              },
            ],
          },
        ),
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node makes a mirror pod of another node',
      post(
        PODS,
        core(
          'Pod',
          'mirror-other',
          { spec: { nodeName: 'node-7', containers: [container()] } },
          { annotations: { 'kubernetes.io/config.mirror': 'x' } },
        ),
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node deletes its pod',
      remove(`${PODS}/uses?gracePeriodSeconds=0`, undefined, { user: 'node', shows: ['kind', 'status.phase'] }),
    ),
    each('a node deletes a pod elsewhere', remove(`${PODS}/elsewhere`, undefined, { user: 'node', shows: REASONS })),
    each(
      'a node evicts a pod elsewhere',
      post(`${PODS}/elsewhere/eviction`, eviction('elsewhere'), { user: 'node', shows: REASONS }),
    ),
    each(
      'a node keeps its lease',
      post(
        '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
        of('coordination.k8s.io/v1', 'Lease', 'node-1'),
        { user: 'node', shows: ['kind'] },
      ),
      post(
        '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
        of('coordination.k8s.io/v1', 'Lease', 'node-2'),
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node keeps a lease elsewhere',
      post('/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases', of('coordination.k8s.io/v1', 'Lease', 'node-1'), {
        user: 'node',
        shows: REASONS,
      }),
    ),
    each(
      'a node writes an event',
      post('/api/v1/namespaces/$(ns)/events', core('Event', 'e', { involvedObject: { namespace: '$(ns)' } }), {
        user: 'node',
        shows: ['kind'],
      }),
    ),
    each(
      'a node reports its drivers',
      post(
        '/apis/storage.k8s.io/v1/csinodes',
        of('storage.k8s.io/v1', 'CSINode', 'node-1', { spec: { drivers: [] } }),
        { user: 'node', shows: ['kind'] },
      ),
      post(
        '/apis/storage.k8s.io/v1/csinodes',
        of('storage.k8s.io/v1', 'CSINode', 'node-2', { spec: { drivers: [] } }),
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node asks for a token of no pod',
      post(`${ACCOUNTS}/default/token`, tokenRequest({}), { user: 'node', shows: REASONS }),
    ),
    each(
      'a node asks for a token of its pod',
      post(PODS, forNode('tokens', { automountServiceAccountToken: true }), { keep: 'pod', shows: 'code' }),
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'tokens', uid: '$(pod.metadata.uid)' } }),
        { user: 'node', until: 201, shows: ['kind'] },
      ),
    ),
    each(
      'a node asks for a token for an audience that the pod has not',
      get(`${PODS}/tokens`, { keep: 'pod', shows: 'code' }),
      post(
        `${ACCOUNTS}/default/token`,
        tokenRequest({
          audiences: ['bank'],
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'tokens', uid: '$(pod.metadata.uid)' },
        }),
        { user: 'node', shows: REASONS },
      ),
    ),
    each(
      'a node reads services and classes',
      get('/api/v1/services', { user: 'node', shows: ['kind'] }),
      get('/apis/node.k8s.io/v1/runtimeclasses', { user: 'node', shows: ['kind'] }),
      get('/apis/storage.k8s.io/v1/csidrivers', { user: 'node', shows: ['kind'] }),
    ),
    each('a node reads namespaces', get('/api/v1/namespaces', { user: 'node', shows: REASONS })),
    each(
      'a node reviews access',
      post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        review('SubjectAccessReview', { user: 'u', resourceAttributes: { verb: 'get', resource: 'nodes' } }),
        { user: 'node', shows: ['status.allowed'] },
      ),
    ),
    each(
      'a node deletes itself',
      remove(`${NODES}/node-1`, undefined, { user: 'node', shows: REASONS }),
      remove(`${NODES}/node-1`, undefined, { shows: 'code' }),
    ),
  ],
}
