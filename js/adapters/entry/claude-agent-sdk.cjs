'use strict';

module.exports = require('../claude-agent-sdk.js')(require('@anthropic-ai/claude-agent-sdk'));
