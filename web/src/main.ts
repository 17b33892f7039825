import './shell/older-browsers'
import './styles/index'
import { createApp } from 'vue'
import App from './App.vue'
import { applyPreferences } from './shell/preferences'

applyPreferences()
createApp(App).mount('#app')
