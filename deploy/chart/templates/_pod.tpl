{{- define "conductor.labels" -}}
app.kubernetes.io/name: temporal-conductor
app.kubernetes.io/instance: {{ .release }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "conductor.pod" -}}
automountServiceAccountToken: false
terminationGracePeriodSeconds: 45
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: configuration
    configMap: { name: {{ .Release.Name }} }
  - { name: own, emptyDir: {} }
  - { name: temporary, emptyDir: {} }
{{- end }}

{{- define "conductor.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - { name: TEMPORAL_ADDRESS, value: {{ .Values.temporal.address | quote }} }
  - { name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }} }
  - { name: CONDUCTOR_CONFIG, value: /etc/temporal-conductor/conductor.yaml }
  - { name: CONDUCTOR_TRUST, value: {{ .Values.trust | quote }} }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: configuration, mountPath: /etc/temporal-conductor, readOnly: true }
  - { name: own, mountPath: /work/.conductor }
  - { name: temporary, mountPath: /tmp }
{{- end }}
