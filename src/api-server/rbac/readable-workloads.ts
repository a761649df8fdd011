/** The resources of workloads that the readers of a node and the role "view" may see, by API group. */
export const READABLE_WORKLOADS = {
  apps: [
    'controllerrevisions',
    'daemonsets',
    'daemonsets/status',
    'deployments',
    'deployments/scale',
    'deployments/status',
    'replicasets',
    'replicasets/scale',
    'replicasets/status',
    'statefulsets',
    'statefulsets/scale',
    'statefulsets/status',
  ],
  autoscaling: ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'],
  batch: ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'],
}
