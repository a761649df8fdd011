import { autoscalerColumns } from '../columns/autoscaler-columns.ts'
import { ingressClassColumns, ingressColumns } from '../columns/ingress-columns.ts'
import * as jobColumns from '../columns/job-columns.ts'
import { networkPolicyColumns } from '../columns/service-columns.ts'
import * as workloadColumns from '../columns/workload-columns.ts'
import type { Resource } from '../resource.ts'
import { ingressClassRules } from '../rules/networking/ingress-class-rules.ts'
import { ingressRules } from '../rules/networking/ingress-rules.ts'
import { networkPolicyRules } from '../rules/networking/network-policy-rules.ts'
import { autoscalerConversion } from '../rules/workloads/autoscaler-conversion.ts'
import { autoscalerRules } from '../rules/workloads/autoscaler-rules.ts'
import { cronJobRules } from '../rules/workloads/cron-job-rules.ts'
import { daemonSetRules } from '../rules/workloads/daemon-set-rules.ts'
import { deploymentRules } from '../rules/workloads/deployment-rules.ts'
import { disruptionBudgetRules } from '../rules/workloads/disruption-budget-rules.ts'
import { jobRules } from '../rules/workloads/job-rules.ts'
import { replicaSetRules } from '../rules/workloads/replica-set-rules.ts'
import { controllerRevisionRules } from '../rules/workloads/revision-rules.ts'
import { scale } from '../rules/workloads/scale-subresource.ts'
import { statefulSetRules } from '../rules/workloads/stateful-set-rules.ts'
import { defineResource, statusSubresource } from './define-resource.ts'

/** Kinds that controllers act on (src/controllers); one without a controller is not served. */
export const workloadResources: readonly Resource[] = [
  defineResource('controllerrevisions.apps', {
    kind: 'ControllerRevision',
    isNamespaced: true,
    columns: workloadColumns.controllerRevisionColumns,
    rules: controllerRevisionRules,
  }),
  defineResource('daemonsets.apps', {
    kind: 'DaemonSet',
    shortNames: ['ds'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [statusSubresource],
    columns: workloadColumns.daemonSetColumns,
    rules: daemonSetRules,
  }),
  defineResource('deployments.apps', {
    kind: 'Deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    countsAnnotations: true,
    subresources: [scale, statusSubresource],
    columns: workloadColumns.deploymentColumns,
    rules: deploymentRules,
  }),
  defineResource('replicasets.apps', {
    kind: 'ReplicaSet',
    shortNames: ['rs'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [scale, statusSubresource],
    selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
    columns: workloadColumns.replicaSetColumns,
    rules: replicaSetRules,
  }),
  defineResource('statefulsets.apps', {
    kind: 'StatefulSet',
    shortNames: ['sts'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [scale, statusSubresource],
    columns: workloadColumns.statefulSetColumns,
    rules: statefulSetRules,
  }),
  defineResource('horizontalpodautoscalers.autoscaling', {
    kind: 'HorizontalPodAutoscaler',
    version: 'v2',
    shortNames: ['hpa'],
    categories: ['all'],
    isNamespaced: true,
    subresources: [statusSubresource],
    columns: autoscalerColumns,
    rules: autoscalerRules,
  }),
  defineResource('horizontalpodautoscalers.autoscaling', {
    kind: 'HorizontalPodAutoscaler',
    typeName: 'autoscaling.v1.HorizontalPodAutoscaler',
    shortNames: ['hpa'],
    categories: ['all'],
    isNamespaced: true,
    convert: autoscalerConversion,
    subresources: [statusSubresource],
    columns: autoscalerColumns,
    rules: autoscalerRules,
  }),
  defineResource('ingressclasses.networking.k8s.io', {
    kind: 'IngressClass',
    hasGeneration: true,
    columns: ingressClassColumns,
    rules: ingressClassRules,
  }),
  defineResource('ingresses.networking.k8s.io', {
    kind: 'Ingress',
    shortNames: ['ing'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [statusSubresource],
    columns: ingressColumns,
    rules: ingressRules,
  }),
  defineResource('networkpolicies.networking.k8s.io', {
    kind: 'NetworkPolicy',
    shortNames: ['netpol'],
    isNamespaced: true,
    hasGeneration: true,
    columns: networkPolicyColumns,
    rules: networkPolicyRules,
  }),
  defineResource('poddisruptionbudgets.policy', {
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [statusSubresource],
    columns: workloadColumns.disruptionBudgetColumns,
    rules: disruptionBudgetRules,
  }),
  defineResource('cronjobs.batch', {
    kind: 'CronJob',
    shortNames: ['cj'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [statusSubresource],
    columns: jobColumns.cronJobColumns,
    rules: cronJobRules,
  }),
  defineResource('jobs.batch', {
    kind: 'Job',
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [statusSubresource],
    selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
    columns: jobColumns.jobColumns,
    rules: jobRules,
  }),
]
