import type * as core from '../../model/generated/core-v1.ts'
import type * as groups from '../../model/generated/api-groups.ts'
import type { MetricsObject } from '../resource-metrics/metrics-resources.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'

/**
 * The type of the objects of each resource, by the name that it is stored under. A resource that is not here, such as one that
 * becomes known at run time, has objects of which only the parts of an ApiObject are known.
 */
interface StoredTypes {
  readonly configmaps: core.ConfigMap
  readonly endpoints: core.Endpoints
  readonly events: core.Event
  readonly limitranges: core.LimitRange
  readonly namespaces: core.Namespace
  readonly nodes: core.Node
  readonly persistentvolumeclaims: core.PersistentVolumeClaim
  readonly persistentvolumes: core.PersistentVolume
  readonly pods: core.Pod
  readonly resourcequotas: core.ResourceQuota
  readonly secrets: core.Secret
  readonly serviceaccounts: core.ServiceAccount
  readonly services: core.Service
  readonly 'clusterrolebindings.rbac.authorization.k8s.io': groups.ClusterRoleBinding
  readonly 'clusterroles.rbac.authorization.k8s.io': groups.ClusterRole
  readonly 'rolebindings.rbac.authorization.k8s.io': groups.RoleBinding
  readonly 'roles.rbac.authorization.k8s.io': groups.Role
  readonly 'certificatesigningrequests.certificates.k8s.io': groups.CertificateSigningRequest
  readonly 'clustertrustbundles.certificates.k8s.io': groups.ClusterTrustBundle
  readonly 'controllerrevisions.apps': groups.ControllerRevision
  readonly 'cronjobs.batch': groups.CronJob
  readonly 'customresourcedefinitions.apiextensions.k8s.io': groups.CustomResourceDefinition
  readonly 'csidrivers.storage.k8s.io': groups.CSIDriver
  readonly 'csinodes.storage.k8s.io': groups.CSINode
  readonly 'daemonsets.apps': groups.DaemonSet
  readonly 'deployments.apps': groups.Deployment
  readonly 'deviceclasses.resource.k8s.io': groups.DeviceClass
  readonly 'endpointslices.discovery.k8s.io': groups.EndpointSlice
  readonly 'horizontalpodautoscalers.autoscaling': groups.HorizontalPodAutoscaler
  readonly 'ingressclasses.networking.k8s.io': groups.IngressClass
  readonly 'ingresses.networking.k8s.io': groups.Ingress
  readonly 'jobs.batch': groups.Job
  readonly 'leases.coordination.k8s.io': groups.Lease
  readonly 'networkpolicies.networking.k8s.io': groups.NetworkPolicy
  readonly 'nodes.metrics.k8s.io': MetricsObject
  readonly 'pods.metrics.k8s.io': MetricsObject
  readonly 'poddisruptionbudgets.policy': groups.PodDisruptionBudget
  readonly 'priorityclasses.scheduling.k8s.io': groups.PriorityClass
  readonly 'replicasets.apps': groups.ReplicaSet
  readonly 'resourceclaims.resource.k8s.io': groups.ResourceResourceClaim
  readonly 'resourceclaimtemplates.resource.k8s.io': groups.ResourceClaimTemplate
  readonly 'resourceslices.resource.k8s.io': groups.ResourceSlice
  readonly 'runtimeclasses.node.k8s.io': groups.RuntimeClass
  readonly 'storageclasses.storage.k8s.io': groups.StorageClass
  readonly 'statefulsets.apps': groups.StatefulSet
  readonly 'volumeattachments.storage.k8s.io': groups.VolumeAttachment
}

/** What is stored under a name: an object of the kind's type where the compiler knows the name, otherwise any object. */
export type ObjectIn<R extends string> = R extends keyof StoredTypes ? ObjectOf<StoredTypes[R]> : ApiObject

/** An object of the type that a schema describes, by the schema's name. */
export type ObjectNamed<N extends string> = N extends keyof groups.ApiTypes ? ObjectOf<groups.ApiTypes[N]> : ApiObject
