import type { ClusterRole, ClusterRoleBinding, PolicyRule, Subject } from '../../model/generated/api-groups.ts'
import { ALL_VERBS, READ_VERBS, WRITE_VERBS } from '../kinds/verb-lists.ts'
import { READABLE_WORKLOADS } from './readable-workloads.ts'
import type { ObjectOf } from '../store/api-object.ts'
import { RBAC_GROUP } from './roles.ts'

/** The roles that users of Kubernetes expect, with the rules that they have there. */
const rules: Readonly<Record<string, readonly PolicyRule[]>> = {
  'cluster-admin': [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
  'system:aggregate-to-admin': [
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'] },
    { verbs: ALL_VERBS, apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings', 'roles'] },
  ],
  'system:aggregate-to-edit': [
    {
      verbs: READ_VERBS,
      apiGroups: [''],
      resources: ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'],
    },
    { verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'] },
    {
      verbs: WRITE_VERBS,
      apiGroups: [''],
      resources: ['pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'],
    },
    { verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] },
    {
      verbs: WRITE_VERBS,
      apiGroups: [''],
      resources: [
        'configmaps',
        'persistentvolumeclaims',
        'replicationcontrollers',
        'replicationcontrollers/scale',
        'secrets',
        'serviceaccounts',
        'services',
        'services/proxy',
      ],
    },
    { verbs: ['create'], apiGroups: [''], resources: ['serviceaccounts/token'] },
    { verbs: WRITE_VERBS, apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    {
      verbs: WRITE_VERBS,
      apiGroups: ['apps'],
      resources: [
        'daemonsets',
        'deployments',
        'deployments/rollback',
        'deployments/scale',
        'replicasets',
        'replicasets/scale',
        'statefulsets',
        'statefulsets/scale',
      ],
    },
    { verbs: WRITE_VERBS, apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] },
    { verbs: WRITE_VERBS, apiGroups: ['batch'], resources: ['cronjobs', 'jobs'] },
    {
      verbs: WRITE_VERBS,
      apiGroups: ['extensions'],
      resources: [
        'daemonsets',
        'deployments',
        'deployments/rollback',
        'deployments/scale',
        'ingresses',
        'networkpolicies',
        'replicasets',
        'replicasets/scale',
        'replicationcontrollers/scale',
      ],
    },
    { verbs: WRITE_VERBS, apiGroups: ['policy'], resources: ['poddisruptionbudgets'] },
    { verbs: WRITE_VERBS, apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'networkpolicies'] },
    { verbs: ALL_VERBS, apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
    { verbs: WRITE_VERBS, apiGroups: ['resource.k8s.io'], resources: ['resourceclaims', 'resourceclaimtemplates'] },
  ],
  'system:aggregate-to-view': [
    {
      verbs: READ_VERBS,
      apiGroups: [''],
      resources: [
        'configmaps',
        'endpoints',
        'persistentvolumeclaims',
        'persistentvolumeclaims/status',
        'pods',
        'replicationcontrollers',
        'replicationcontrollers/scale',
        'serviceaccounts',
        'services',
        'services/status',
      ],
    },
    {
      verbs: READ_VERBS,
      apiGroups: [''],
      resources: [
        'bindings',
        'limitranges',
        'namespaces/status',
        'pods/log',
        'pods/status',
        'replicationcontrollers/status',
        'resourcequotas',
        'resourcequotas/status',
      ],
    },
    { verbs: READ_VERBS, apiGroups: [''], resources: ['namespaces'] },
    { verbs: READ_VERBS, apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    { verbs: READ_VERBS, apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
    {
      verbs: READ_VERBS,
      apiGroups: ['apps'],
      resources: READABLE_WORKLOADS.apps,
    },
    {
      verbs: READ_VERBS,
      apiGroups: ['autoscaling'],
      resources: READABLE_WORKLOADS.autoscaling,
    },
    { verbs: READ_VERBS, apiGroups: ['batch'], resources: READABLE_WORKLOADS.batch },
    {
      verbs: READ_VERBS,
      apiGroups: ['extensions'],
      resources: [
        'daemonsets',
        'daemonsets/status',
        'deployments',
        'deployments/scale',
        'deployments/status',
        'ingresses',
        'ingresses/status',
        'networkpolicies',
        'replicasets',
        'replicasets/scale',
        'replicasets/status',
        'replicationcontrollers/scale',
      ],
    },
    { verbs: READ_VERBS, apiGroups: ['policy'], resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'] },
    {
      verbs: READ_VERBS,
      apiGroups: ['networking.k8s.io'],
      resources: ['ingresses', 'ingresses/status', 'networkpolicies'],
    },
    {
      verbs: READ_VERBS,
      apiGroups: ['resource.k8s.io'],
      resources: ['resourceclaims', 'resourceclaims/status', 'resourceclaimtemplates'],
    },
  ],
  'system:auth-delegator': [
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'] },
  ],
  'system:basic-user': [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ],
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient': [
    { verbs: ['create'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/nodeclient'] },
  ],
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient': [
    { verbs: ['create'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/selfnodeclient'] },
  ],
  'system:certificates.k8s.io:kube-apiserver-client-approver': [
    {
      verbs: ['approve'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['kubernetes.io/kube-apiserver-client'],
    },
  ],
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver': [
    {
      verbs: ['approve'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['kubernetes.io/kube-apiserver-client-kubelet'],
    },
  ],
  'system:certificates.k8s.io:kubelet-serving-approver': [
    {
      verbs: ['approve'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['kubernetes.io/kubelet-serving'],
    },
  ],
  'system:discovery': [
    {
      verbs: ['get'],
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ],
    },
  ],
  'system:kubelet-api-admin': [
    { verbs: READ_VERBS, apiGroups: [''], resources: ['nodes'] },
    { verbs: ['proxy'], apiGroups: [''], resources: ['nodes'] },
    { verbs: ['*'], apiGroups: [''], resources: ['nodes/log', 'nodes/metrics', 'nodes/proxy', 'nodes/stats'] },
    { verbs: ['*'], apiGroups: [''], resources: ['nodes/configz', 'nodes/healthz', 'nodes/pods'] },
  ],
  'system:monitoring': [
    {
      verbs: ['get'],
      nonResourceURLs: [
        '/flagz',
        '/healthz',
        '/healthz/*',
        '/livez',
        '/livez/*',
        '/metrics',
        '/metrics/slis',
        '/readyz',
        '/readyz/*',
        '/statusz',
      ],
    },
    { verbs: ['get'], apiGroups: [''], resources: ['nodes/metrics'] },
  ],
  'system:node-bootstrapper': [
    {
      verbs: ['create', 'get', 'list', 'watch'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
    },
  ],
  'system:node-proxier': [
    { verbs: ['list', 'watch'], apiGroups: [''], resources: ['endpoints', 'services'] },
    { verbs: READ_VERBS, apiGroups: [''], resources: ['nodes'] },
    { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    { verbs: ['list', 'watch'], apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'] },
    { verbs: ['list', 'watch'], apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
  ],
  'system:persistent-volume-provisioner': [
    { verbs: ['create', 'delete', 'get', 'list', 'watch'], apiGroups: [''], resources: ['persistentvolumes'] },
    { verbs: ['get', 'list', 'update', 'watch'], apiGroups: [''], resources: ['persistentvolumeclaims'] },
    { verbs: READ_VERBS, apiGroups: ['storage.k8s.io'], resources: ['storageclasses'] },
    { verbs: ['watch'], apiGroups: [''], resources: ['events'] },
    { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
  ],
  'system:public-info-viewer': [
    { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
  ],
}

/** Roles that gather the rules of those that are labelled for them. */
const AGGREGATED = ['admin', 'edit', 'view']
/** Which of these roles a role is part of. */
const PART_OF: Readonly<Record<string, string>> = {
  edit: 'admin',
  view: 'edit',
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
}

const group = (name: string): Subject => ({ kind: 'Group', apiGroup: RBAC_GROUP, name })
const user = (name: string): Subject => ({ kind: 'User', apiGroup: RBAC_GROUP, name })

const bindings: Readonly<Record<string, readonly Subject[]>> = {
  'cluster-admin': [group('system:masters')],
  'system:basic-user': [group('system:authenticated')],
  'system:discovery': [group('system:authenticated')],
  'system:monitoring': [group('system:monitoring')],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
}

/** What an administrator sets to "false" to keep a role as it is. */
export const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'
const annotations = { [AUTOUPDATE]: 'true' }
const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
const apiVersion = `${RBAC_GROUP}/v1`
const gathering = (name: string) => `rbac.authorization.k8s.io/aggregate-to-${name}`

export const defaultClusterRoles: readonly ObjectOf<ClusterRole>[] = [...Object.keys(rules), ...AGGREGATED].map(
  (name) => ({
    kind: 'ClusterRole',
    apiVersion,
    metadata: {
      name,
      annotations,
      labels: { ...labels, ...(PART_OF[name] !== undefined && { [gathering(PART_OF[name])]: 'true' }) },
    },
    ...(AGGREGATED.includes(name) && {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [gathering(name)]: 'true' } }] },
    }),
    rules: rules[name] ?? [],
  }),
)

export const defaultClusterRoleBindings: readonly ObjectOf<ClusterRoleBinding>[] = Object.entries(bindings).map(
  ([name, subjects]) => ({
    kind: 'ClusterRoleBinding',
    apiVersion,
    metadata: { name, annotations, labels },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
    subjects,
  }),
)
